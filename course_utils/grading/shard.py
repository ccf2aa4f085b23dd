"""A marking process: one sandbox, and jobs one after the other. Lines of JSON in, lines of JSON out.

The first line is the settings: lessons, seed, isolated, seconds, memory. Each further line is a job: key, name, and either
path or data (base64). Each answer bears its job's key. It ends when its input ends.
"""

import base64
import json
import os
import sys
import warnings
from pathlib import Path


def main():
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")  # what some library prints goes elsewhere
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    from .sandbox import Sandbox, SandboxError

    def say(message):
        out.write(json.dumps(message) + "\n")
        out.flush()

    settings = json.loads(sys.stdin.readline())
    try:
        with Sandbox(settings["isolated"], settings["seconds"], settings["memory"]) as sandbox:
            import torch  # while the sandbox warms up

            from .marking import Marker
            from .submissions import LARGEST

            torch.set_num_threads(1)
            marker = Marker(sandbox, settings["lessons"], settings["seed"], settings["seconds"])
            say({"ready": True, "filter": sandbox.wait()})
            for line in sys.stdin:
                job = json.loads(line)
                data = base64.b64decode(job["data"]) if "data" in job else Path(job["path"]).read_bytes()[:LARGEST + 1]
                say({"key": job["key"], "result": marker.mark(data, job["name"])})
    except SandboxError as error:
        say({"fatal": str(error)})
        sys.exit(1)


if __name__ == "__main__":
    main()
