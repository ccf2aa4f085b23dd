"""A plugin of pytest for slow processors: nbval waits long for kernels. `-p tests.patience`.

Two of its limits are no options: a kernel that starts has 10 seconds to answer, and after a cell,
5 seconds to send what it wrote.
"""

import pytest
from nbval.kernel import RunningKernel

TIMES_AS_LONG = 60


# last, since notebooks/conftest.py brings its own `await_reply`
@pytest.hookimpl(trylast=True)
def pytest_configure():
    await_reply, get_message = RunningKernel.await_reply, RunningKernel.get_message

    def await_reply_longer(self, msg_id, timeout):
        await_reply(self, msg_id, timeout=TIMES_AS_LONG * timeout)

    def get_message_later(self, stream, timeout):
        # not on the shell's stream: in between, `await_reply` looks whether the kernel lives
        if stream == "iopub":
            timeout *= TIMES_AS_LONG
        return get_message(self, stream, timeout=timeout)

    RunningKernel.await_reply = await_reply_longer
    RunningKernel.get_message = get_message_later
