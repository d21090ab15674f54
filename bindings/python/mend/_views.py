"""The memory of Python objects: NumPy arrays, array.array, bytearray, memoryview, ctypes' arrays."""

import ctypes


def view_of(data):
    """data's own memory as an array of bytes that ctypes can name. While the result lives, so does the memory.

    TypeError: no buffer, or one of Python objects (their addresses mean nothing in another process).
    ValueError: read-only, or not contiguous.
    """
    try:
        view = memoryview(data)
    except TypeError:
        raise TypeError("%s has no buffer: give an array of NumPy, an array.array or a bytearray" % type(data).__name__) from None
    kind = getattr(data, "dtype", None)
    if view.format == "O" or getattr(kind, "hasobject", False):
        raise TypeError("an array of Python objects cannot be saved: its elements are addresses")
    if view.readonly:
        raise ValueError("the memory is read-only: a restore could not write to it")
    if not view.c_contiguous and view.f_contiguous and hasattr(data, "T"):
        view = memoryview(data.T)  # the same memory, in the order that ctypes accepts
    if not view.c_contiguous:
        raise ValueError("the memory is not contiguous: a slice with gaps cannot be a view")
    return (ctypes.c_char * view.nbytes).from_buffer(view) if view.nbytes else (ctypes.c_char * 0)()
