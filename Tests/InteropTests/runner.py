"""Runs tests one after another with one daemon, and prints at the end which failed."""

import sys
import traceback

from daemon import eventually


class Runner:
    """Stops the daemon after the tests, and prints its log if one failed."""

    def __init__(self, daemon):
        self.daemon = daemon
        self.failed = []

    def __enter__(self):
        return self

    def run(self, tests, call, after_failure=lambda: None):
        """Calls each test, or only those named on the command line."""
        for test in tests:
            if len(sys.argv) > 1 and test.__name__ not in sys.argv[1:]:
                continue
            print(test.__name__, "-", test.__doc__, flush=True)
            try:
                call(test)
            except Exception:
                traceback.print_exc()
                self.failed.append(test.__name__)
                after_failure()
            # A browser that disappeared without a message is removed after 30 s.
            eventually("the end of all viewers", lambda: not any(self.daemon.viewers()), 45)

    def __exit__(self, kind, *_):
        daemon = self.daemon
        try:
            if kind is None:
                daemon.stop()
                assert "Fatal error" not in daemon.log()
        finally:
            if daemon.process.poll() is None:
                daemon.process.kill()
            if self.failed or kind:
                print("--- the daemon's log:\n", daemon.log()[-4000:])
        if self.failed and kind is None:
            raise SystemExit(f"failed: {', '.join(self.failed)}")
