"""One alternative of `peers.py`, in a process of its own, with the Python of either environment.

Its arguments: backend, precision and a folder with texts.json and calibration/train.csv. MODEL names the encoder's
folder. A line of JSON on stdin is a question, a line on stdout its answer: {"load", "batch"} asks for the seconds that
it takes, with "save" also for the vectors, in that file. The first answer says that the model is loaded.
"""

import json
import os
import platform
import sys
import time
from importlib import metadata
from pathlib import Path

from ..offline import block_network

PACKAGES = {
    "embed": ("torch",),
    "torch": ("sentence-transformers", "transformers", "torch"),
    "onnx": ("sentence-transformers", "transformers", "optimum-onnx", "onnxruntime"),
    "openvino": ("sentence-transformers", "transformers", "optimum-intel", "openvino"),
}


def encoder(backend, precision, folder, model):
    """A function (sentences, batch size) to vectors. Exports and quantises the model first where it has to."""
    if backend == "embed":
        from course_utils import embed

        return lambda sentences, batch: embed(sentences, precision=precision)
    from sentence_transformers import SentenceTransformer

    def load(source, **settings):
        return SentenceTransformer(
            str(source), device="cpu", backend=backend, model_kwargs=settings
        )

    if backend == "torch":
        loaded = load(model, dtype=precision)
    elif precision == "int8":
        loaded = quantised(load, backend, model, folder)
    elif backend == "onnx":
        loaded = load(model, export=True)
    else:  # OpenVINO would choose bfloat16 by itself on a processor that has it
        hint = {"float32": "f32", "bfloat16": "bf16"}[precision]
        loaded = load(model, export=True, ov_config={"INFERENCE_PRECISION_HINT": hint})
    return lambda sentences, batch: loaded.encode(
        sentences, batch_size=batch, show_progress_bar=False
    )


def quantised(load, backend, model, folder):
    """The model in int8, as the library's own functions make it: ONNX dynamically, OpenVINO with calibration."""
    target = folder / f"{backend}-int8"
    exported = load(model, export=True)
    exported.save_pretrained(str(target))
    if backend == "onnx":
        from sentence_transformers import export_dynamic_quantized_onnx_model

        export_dynamic_quantized_onnx_model(exported, instructions(), str(target))
        (found,) = target.glob("onnx/model_*.onnx")
    else:
        from sentence_transformers import export_static_quantized_openvino_model

        reviews = (str(folder / "calibration"), "default", "train", "text")
        export_static_quantized_openvino_model(exported, None, str(target), *reviews)
        (found,) = target.glob("openvino/openvino_model_*.xml")
    return load(target, file_name=f"{backend}/{found.name}")


def instructions():
    """The name of the library's int8 settings for this processor."""
    path = Path("/proc/cpuinfo")
    flags = set(path.read_text().split()) if path.exists() else set()
    if platform.machine() in ("arm64", "aarch64"):
        return "arm64"
    return next(
        (
            name
            for name, flag in (("avx512_vnni", "avx512_vnni"), ("avx512", "avx512f"))
            if flag in flags
        ),
        "avx2",
    )


def main(backend, precision, folder):
    """Answer questions until stdin ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer
    block_network()  # some of them would report their use; before numpy, whose threads prevent it

    import numpy as np

    def answer(**found):
        print(json.dumps(found), file=answers, flush=True)

    try:
        folder = Path(folder)
        texts = json.loads((folder / "texts.json").read_text(encoding="utf-8"))
        encode = encoder(backend, precision, folder, os.environ["MODEL"])
        encode(texts["short"][:50], 32)
        settings = instructions() if (backend, precision) == ("onnx", "int8") else ""
        answer(
            versions={name: metadata.version(name) for name in PACKAGES[backend]}, settings=settings
        )
        for line in sys.stdin:
            question = json.loads(line)
            start, used = time.perf_counter(), time.process_time()
            vectors = encode(texts[question["load"]], question.get("batch"))
            seconds, used = time.perf_counter() - start, time.process_time() - used
            if "save" in question:
                np.save(question["save"], vectors)
            answer(seconds=seconds, processors=used / seconds)
    except Exception as error:  # a peer that does not run is a row of the table
        answer(failed=f"{type(error).__name__}: {error}".partition("\n")[0][:200])
        raise


if __name__ == "__main__":
    main(*sys.argv[1:])
