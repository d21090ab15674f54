"""The Python package without libmend and without MPI: what it refuses, what it hands over, how run() loops."""

import array
import ctypes
import os
import re
import unittest

os.environ["MEND_LIBRARY"] = "/nowhere/libmend.so.0"  # nothing below may need it
import mend
from mend import _errors, _library, _process, _store, _views

HEADERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../include/mend")


def header(name):
    with open(os.path.join(HEADERS, name), encoding="utf-8") as file:
        return file.read()


def fields_of(structure, text):
    """The names of a structure's fields in a header, in order."""
    body = re.search(r"typedef struct %s \{(.*?)\n\} %s;" % (structure, structure), text, re.S).group(1)
    body = re.sub(r"/\*.*?\*/", "", body, flags=re.S)
    names = []
    for declaration in body.split(";"):
        for part in declaration.split(","):
            found = re.search(r"(\w+)\s*(\[\w+\])?\s*$", part.strip())
            if found:
                names.append(found.group(1))
    return names


class Tables(unittest.TestCase):
    """What is written twice, in C and in Python, is the same."""

    def test_codes(self):
        rows = re.findall(r"X\((\w+), (-?\d+), \"", header("error.h"))
        self.assertEqual({name: int(value) for name, value in rows}, _errors.CODES)

    def test_structures(self):
        for structure, ours in (
            ("mend_level_options", _library.LevelOptions),
            ("mend_store_options", _library.StoreOptions),
            ("mend_save_options", _library.SaveOptions),
        ):
            self.assertEqual(fields_of(structure, header("store.h")), [field[0] for field in ours._fields_])

    def test_levels_and_roles(self):
        names = re.findall(r"MEND_LEVEL_(\w+),?\n", header("store.h").split("typedef enum mend_level")[1].split("}")[0])
        self.assertEqual([name.lower() for name in names[:-1]], list(_store.LEVELS))
        roles = dict(re.findall(r"MEND_ROLE_(\w+) = (\d)", header("process.h")))
        self.assertEqual({name: int(value) for name, value in roles.items()}, {role.name: role.value for role in mend.Role})
        policies = re.findall(r"MEND_POLICY_(\w+) = \d", header("process.h"))
        self.assertEqual([name.lower() for name in policies], list(_process.POLICIES))


class Errors(unittest.TestCase):
    def test_kinds(self):
        self.assertIsInstance(_errors.error(mend.ERR_PEER_FAILED), mend.PeerFailed)
        self.assertIsInstance(_errors.error(mend.ERR_NO_VERSION), mend.NoVersion)
        self.assertIs(type(_errors.error(mend.ERR_IO)), mend.Error)
        problem = _errors.error(mend.ERR_FULL, "no room in /x")
        self.assertEqual((problem.code, problem.name, str(problem)), (-5, "MEND_ERR_FULL", "no room in /x (MEND_ERR_FULL)"))
        self.assertIn("-999", _errors.error(-999).name)

    def test_no_library(self):
        for use in (mend.version, lambda: mend.Store("x"), mend.Job):
            with self.assertRaisesRegex(mend.NoLibrary, "MEND_LIBRARY.*/nowhere/libmend.so.0"):
                use()


class Views(unittest.TestCase):
    def test_same_memory(self):
        data = bytearray(b"hello")
        view = _views.view_of(data)
        view[0] = b"j"
        self.assertEqual(data, b"jello")
        self.assertEqual(ctypes.sizeof(_views.view_of(array.array("d", [1, 2, 3]))), 24)
        self.assertEqual(ctypes.sizeof(_views.view_of(bytearray())), 0)
        square = memoryview(bytearray(16)).cast("B", (4, 4))
        self.assertEqual(ctypes.sizeof(_views.view_of(square)), 16)

    def test_memory_is_held(self):
        data = bytearray(8)
        view = _views.view_of(data)
        with self.assertRaises(BufferError):  # its memory cannot move away
            data.extend(b"x" * 100)
        del view
        data.extend(b"x" * 100)

    def test_refused(self):
        for data, kind, words in (
            (5, TypeError, "int has no buffer"),
            ("text", TypeError, "str has no buffer"),
            (b"constant", ValueError, "read-only"),
            (memoryview(bytearray(8))[::2], ValueError, "not contiguous"),
        ):
            with self.assertRaisesRegex(kind, words):
                _views.view_of(data)


class Options(unittest.TestCase):
    def filled(self, **given):
        options = _library.StoreOptions()
        for i in range(5):
            options.level[i].every, options.level[i].keep = 7, 3
        _store.fill_options(options, given)
        return options

    def test_levels(self):
        options = self.filled(levels={"memory": 1, "global": {"every": 10, "keep": 2, "compress": 5}})
        rows = [(row.every, row.keep, row.compress) for row in options.level]
        self.assertEqual(rows, [(1, 3, 0), (0, 3, 0), (0, 3, 0), (0, 3, 0), (10, 2, 5)])
        self.assertEqual([row.every for row in self.filled().level], [7] * 5)

    def test_others(self):
        options = self.filled(local_dir="/tmp/ä", sync=True, delta="cmp", buffers=2, max_stall=0.5, bandwidth=None)
        self.assertEqual(options.local_dir, os.fsencode("/tmp/ä"))
        self.assertEqual((options.sync, options.delta, options.buffers, options.max_stall, options.bandwidth), (1, 2, 2, 0.5, 0))

    def test_refused(self):
        for given, kind, words in (
            ({"folder": "/tmp"}, TypeError, "no option 'folder'"),
            ({"levels": ["memory"]}, TypeError, "dictionary"),
            ({"levels": {"disk": 1}}, ValueError, "no level 'disk'"),
            ({"levels": {"local": -1}}, ValueError, "every must be"),
            ({"levels": {"local": {"often": 1}}}, ValueError, "no option 'often'"),
            ({"delta": "xor"}, ValueError, "delta is one of"),
            ({"buffers": "two"}, ValueError, "buffers must be"),
            ({"block": -1}, ValueError, "block must be"),
            ({"local_dir": 5}, TypeError, ""),
        ):
            with self.assertRaisesRegex(kind, words):
                mend.Store("x", **given)

    def test_names_and_numbers(self):
        for name in (None, "", 5):
            with self.assertRaises(TypeError):
                mend.Store(name)
        self.assertEqual(_store.number(7), 7)
        for wrong, kind in ((1.5, TypeError), ("1", TypeError), (None, TypeError), (-1, ValueError), (2**63, ValueError)):
            with self.assertRaises(kind):
                _store.number(wrong)

    def test_communicators(self):
        class Comm:
            def py2f(self):
                return 3

        self.assertEqual(_library.fortran_handle(Comm()), 3)
        self.assertEqual(_library.fortran_handle(4), 4)
        for wrong in (True, "world", 1.0):
            with self.assertRaisesRegex(TypeError, "communicator"):
                mend.Store("x", wrong)

    def test_job(self):
        for given, words in (
            ({"spares": -1}, "spares"),
            ({"spares": True}, "spares"),
            ({"spares": 1.5}, "spares"),
            ({"policy": "pray"}, "no policy 'pray'"),
            ({"policy": ("spare", "spawn", "shrink")}, "at most two"),
        ):
            with self.assertRaisesRegex(ValueError, words):
                mend.Job(**given)
        self.assertEqual(_process.policy_numbers("shrink"), [3, 0])
        self.assertEqual(_process.policy_numbers(("spare", "shrink")), [1, 3])


class FakeLibrary:
    """The process layer as run() sees it: codes to return, in order."""

    def __init__(self, repairs=(), closes=(0,), role=mend.Role.INITIAL):
        self.repairs, self.closes, self.role = list(repairs), list(closes), role
        self.generation, self.calls = 0, []

    def mend_error_text(self):
        return b"facts"

    def mend_process_open_fortran(self, base, spares, first, second, process):
        self.calls.append(("open", base, spares, first, second))
        process._obj.value = 1234
        return 0

    def mend_process_state_fortran(self, process, comm, role, rank, size, generation, spares):
        for target, value in zip((comm, role, rank, size, generation, spares), (50 + self.generation, self.role, 0, 1, self.generation, 0)):
            target._obj.value = value

    def mend_process_repair(self, process):
        code = self.repairs.pop(0)
        self.generation += code == 0
        return code

    def mend_process_close(self, process):
        self.calls.append("close")
        code = self.closes.pop(0)
        self.generation += code == mend.ERR_PEER_FAILED
        return code

    def mend_process_is_failure(self, code):
        return int(code == 75)


class Loop(unittest.TestCase):
    def run_with(self, fake, body, **given):
        before = _process.library, _library.library, _process.meet_again
        _process.library = _library.library = lambda: fake
        _process.meet_again = lambda job, problem: problem
        try:
            return mend.run(body, comm=9, **given)
        finally:
            _process.library, _library.library, _process.meet_again = before

    def test_undisturbed(self):
        fake = FakeLibrary()
        self.assertEqual(self.run_with(fake, lambda job: job.handle, spares=2, policy="shrink"), 50)
        self.assertEqual(fake.calls, [("open", 9, 2, 3, 0), "close"])

    def test_entered_again(self):
        class FromMpi(Exception):
            def Get_error_code(self):
                return 75

        seen = []

        def body(job):
            seen.append((job.generation, job.handle))
            if job.generation == 0:
                raise mend.PeerFailed(mend.ERR_PEER_FAILED)
            if job.generation == 1:
                raise FromMpi()
            return job.generation

        # a third death, while the others have finished already
        fake = FakeLibrary(repairs=[0, 0], closes=[mend.ERR_PEER_FAILED, 0])
        self.assertEqual(self.run_with(fake, body), 3)
        self.assertEqual(seen, [(0, 50), (1, 51), (2, 52), (3, 53)])

    def test_other_exceptions_end_the_job(self):
        class FromMpi(Exception):
            def Get_error_code(self):
                return 1

        for problem in (ValueError("mine"), FromMpi(), mend.Error(mend.ERR_IO)):
            fake = FakeLibrary(repairs=[0])  # to bring the others here

            def body(job, problem=problem):
                self.assertEqual(job.generation, 0)
                raise problem

            with self.assertRaises(type(problem)):
                self.run_with(fake, body)
            self.assertEqual(fake.calls, [("open", 9, 0, 0, 0), "close"])

    def test_stopped(self):
        def body(job):
            raise mend.PeerFailed(mend.ERR_PEER_FAILED)

        fake = FakeLibrary(repairs=[mend.ERR_STOPPED])
        with self.assertRaisesRegex(mend.Stopped, "facts"):
            self.run_with(fake, body)
        self.assertEqual(fake.calls[-1], "close")

    def test_released(self):
        fake = FakeLibrary(role=mend.Role.RELEASED)
        self.assertIsNone(self.run_with(fake, lambda job: self.fail("a spare works"), spares=1))
        self.assertEqual(fake.calls[-1], "close")


if __name__ == "__main__":
    unittest.main()
