"""The Python package over libmend, in one process and without MPI: NumPy arrays come back bit for bit, errors have
their facts, and a program that was killed resumes."""

import ctypes
import signal
import subprocess
import sys
import tempfile
import unittest

import mend
import numpy as np
from mend import _library

LOOP = """
import os, signal, sys
import mend, numpy as np
folder, kill_at = sys.argv[1], int(sys.argv[2])
x = np.linspace(0, 1, 1000)
with mend.Store("loop", local_dir=folder, sync=True) as store:
    store.region("x", x)
    first = None
    for step in store.steps(50, every=5):
        first = step if first is None else first
        if step == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
        x[:] = np.sin(x + step)
print(first, x.tobytes().hex())
"""


class Alone(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def open(self, **options):
        return mend.Store("test", local_dir=self.folder.name, **options)

    def test_layout(self):
        """The structure that the library fills is the one that we read."""
        options = _library.StoreOptions()
        size = ctypes.sizeof(options)
        _library.checked(_library.library().mend_store_defaults_sized(ctypes.byref(options), size))
        self.assertEqual(options.size, size)
        self.assertEqual((options.buffers, options.copy_on_write, options.local_dir), (1, 0, None))
        self.assertGreaterEqual(options.block, 4096)
        self.assertEqual(options.block & (options.block - 1), 0)
        self.assertEqual([row.keep > 0 for row in options.level], [True] * 5)
        self.assertGreater(options.max_stall, 0)

    def test_round_trip(self):
        random = np.random.default_rng(1)
        data = {
            "doubles": random.random((30, 40)),
            "fortran": np.asfortranarray(random.random((3, 4, 5))),
            "complex": random.random(7) + 1j,
            "scalar": np.array(42),
            "struct": np.array([(1, 2.5)], dtype=[("a", "i4"), ("Omega", "f8")]),
            "empty": np.zeros((0, 3)),
            "flags": random.random(9) > 0.5,
            "bytes": bytearray(b"hello"),
            "slice": random.random((10, 4))[2:5],
        }
        kept = {name: bytes(memoryview(value).tobytes()) for name, value in data.items()}
        with self.open() as store:
            for name, value in data.items():
                store.region(name, value)
            store.save(3, sync=True)
            self.assertEqual((store.newest(), store.versions(), store.test()), (3, [3], True))
            self.assertIn("local", store.reached(3))
        other = {name: bytearray(5) if name == "bytes" else np.zeros_like(value) for name, value in data.items()}
        with self.open() as store:
            for name, value in other.items():
                store.region(name, value)
            self.assertEqual(store.restore_newest(), 3)
        self.assertEqual({name: memoryview(value).tobytes() for name, value in other.items()}, kept)

    def test_refused_arrays(self):
        with self.open() as store:
            frozen = np.zeros(3)
            frozen.flags.writeable = False
            for data, kind in ((np.zeros((4, 4))[:, 1], ValueError), (frozen, ValueError), (np.array([None]), TypeError)):
                with self.assertRaises(kind):
                    store.region("x", data)
            store.region("x", np.zeros(3), id=7)
            with self.assertRaisesRegex(ValueError, "same id 7"):
                store.region("y", np.zeros(3), id=7)
            with self.assertRaisesRegex(TypeError, "belong together"):
                store.region("z", np.zeros(3), offset=0)

    def test_errors_have_facts(self):
        with self.open() as store:
            x = np.zeros(10)
            store.region("x", x)
            self.assertIsNone(store.newest())
            self.assertIsNone(store.restore_newest())
            with self.assertRaises(mend.NoVersion):
                store.restore(5)
            store.save(5, sync=True)
            with self.assertRaisesRegex(mend.Error, "version 5 .*MEND_ERR_VERSION") as caught:
                store.save(5)
            self.assertEqual(caught.exception.code, mend.ERR_VERSION)
            with self.assertRaises(ValueError):
                store.save(-1)
            with self.assertRaises(ValueError):
                store.save(6, levels=["tape"])
            store.region("x", np.zeros(11))
            with self.assertRaises(mend.Error) as caught:
                store.restore(5)
            self.assertEqual(caught.exception.code, mend.ERR_SIZE)
            store.remove("x")
            with self.assertRaises(KeyError):
                store.remove("x")
        with self.assertRaisesRegex(mend.Error, "closed"):
            store.save(6)
        store.close()  # again
        with self.assertRaises(mend.Error) as caught:
            mend.Store("a/b", local_dir=self.folder.name)
        self.assertEqual(caught.exception.code, mend.ERR_ARGUMENT)

    def test_housekeeping(self):
        x = np.zeros(10)
        with self.open(levels={"local": {"every": 1, "keep": 9}}, sync=True) as store:
            store.region("x", x)
            for version in np.arange(4):  # NumPy's integers, too
                store.save(version)
            self.assertEqual(store.versions(), [3, 2, 1, 0])
            store.prune(2)
            self.assertEqual(store.versions(), [3, 2])
            store.discard()
            self.assertEqual(store.versions(), [])

    def test_memory_lives(self):
        """A region keeps its memory when the program has forgotten the array."""
        with self.open(sync=True) as store:
            store.region("x", np.full(100000, 7.0))
            junk = [np.full(100000, float(i)) for i in range(20)]
            store.save(0)
            del junk
        found = np.zeros(100000)
        with self.open() as store:
            store.region("x", found)
            store.restore(0)
        self.assertTrue((found == 7.0).all())

    def run_loop(self, folder, kill_at):
        return subprocess.run([sys.executable, "-c", LOOP, folder, str(kill_at)], stdout=subprocess.PIPE, text=True, check=False)

    def test_killed_and_started_again(self):
        with tempfile.TemporaryDirectory() as other:
            first, expected = self.run_loop(other, -1).stdout.split()
        self.assertEqual(first, "0")
        self.assertEqual(self.run_loop(self.folder.name, 23).returncode, -signal.SIGKILL)
        self.assertEqual(self.run_loop(self.folder.name, 41).returncode, -signal.SIGKILL)
        first, found = self.run_loop(self.folder.name, -1).stdout.split()
        self.assertEqual((first, found), ("40", expected))


if __name__ == "__main__":
    unittest.main()
