"""What `training.watch` adds to a trainer: a progress bar, a live curve of the loss, a stop when it diverges."""

import math
import os
import time

from transformers import TrainerCallback

from .bars import in_a_notebook, progress_bar, shown_in_a_notebook


class DivergedError(RuntimeError):
    """The loss is NaN or infinite. The message says at which step, and what usually helps."""


class LossWatch(TrainerCallback):
    """Collects (step, loss) in `losses`, with a bar and a curve while it trains. Raises DivergedError."""

    def __init__(self):
        self.losses, self.bar, self.display, self.next_look = [], None, None, 0

    def on_train_begin(self, args, state, control, **_):
        self.bar = progress_bar(total=state.max_steps, initial=state.global_step, unit="step")

    def on_step_end(self, args, state, control, **_):
        self.bar.update(state.global_step - self.bar.n)

    def on_log(self, args, state, control, logs=None, **_):
        loss = (logs or {}).get("loss")
        if loss is None:
            return
        if not math.isfinite(loss):
            self._close()
            raise DivergedError(
                f"the loss is {loss} at step {state.global_step}, so every weight is lost. Load the model again, and "
                f"train with a lower learning rate (it was {args.learning_rate:g}) or a longer warm-up"
            )
        self.losses.append((state.global_step, loss))
        self.bar.set_postfix(loss=f"{loss:.3f}", refresh=False)
        self._draw()

    def on_train_end(self, args, state, control, **_):
        self._close()

    def _draw(self):
        """Redraw the curve at most once a second, and only where a displayed picture can be updated."""
        if os.environ.get("TQDM_DISABLE") == "1" or time.monotonic() < self.next_look or not in_a_notebook():
            return
        self.next_look = time.monotonic() + 1
        from IPython.core.pylabtools import print_figure
        from matplotlib import pyplot

        figure, axes = pyplot.subplots(figsize=(6, 2))
        axes.plot(*zip(*self.losses))
        axes.set(xlabel="step", ylabel="loss")
        pyplot.close(figure)
        step, loss = self.losses[-1]
        curve = {"image/png": print_figure(figure, base64=True), "text/plain": f"step {step}: loss {loss:.3f}"}
        if self.display is None:
            self.display = shown_in_a_notebook(curve)
        else:
            self.display.update(curve, raw=True)

    def _close(self):
        self.bar.close()
        if self.display is not None:
            self.display.update({}, raw=True)
            self.display = None
