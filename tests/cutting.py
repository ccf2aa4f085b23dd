"""Cutting a program off in the middle of its work, as a power cut does."""


def cutter(calls):
    """A decorator whose functions, all together, return `calls` times; each later call raises KeyboardInterrupt."""
    done = 0

    def cut(function):
        def called(*args, **kwargs):
            nonlocal done
            done += 1
            if done > calls:
                raise KeyboardInterrupt
            return function(*args, **kwargs)

        return called

    return cut
