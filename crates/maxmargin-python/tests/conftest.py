"""What all tests need of the process that they run in."""

import signal
import threading

# A shell that starts the tests in the background has Ctrl-C ignored, here and in every process that a test starts.
if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
