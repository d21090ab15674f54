"""Errors of the library as exceptions."""

CODES = {  # mend/error.h
    "OK": 0,
    "ERR_ARGUMENT": -1,
    "ERR_STATE": -2,
    "ERR_NO_MEMORY": -3,
    "ERR_IO": -4,
    "ERR_FULL": -5,
    "ERR_NOT_FOUND": -6,
    "ERR_EXISTS": -7,
    "ERR_PERMISSION": -8,
    "ERR_CONFIG": -9,
    "ERR_UNSUPPORTED": -10,
    "ERR_CANCELLED": -11,
    "ERR_TIMEOUT": -12,
    "ERR_THREAD": -13,
    "ERR_INTERNAL": -14,
    "ERR_DEVICE": -15,
    "ERR_FORMAT": -30,
    "ERR_DAMAGED": -31,
    "ERR_TRUNCATED": -32,
    "ERR_LOST": -33,
    "ERR_ARCHITECTURE": -34,
    "ERR_MPI": -50,
    "ERR_NO_ULFM": -51,
    "ERR_PEER_FAILED": -52,
    "ERR_NO_SPARES": -53,
    "ERR_STOPPED": -54,
    "ERR_HUNG": -55,
    "ERR_VERSION": -70,
    "ERR_NO_VERSION": -71,
    "ERR_RANK_COUNT": -72,
    "ERR_REGION": -73,
    "ERR_DEGRADED": -74,
    "ERR_BUSY": -75,
    "ERR_NOT_SAVED": -76,
    "ERR_SIZE": -77,
    "ERR_STREAM": -78,
    "ERR_INFEASIBLE": -90,
    "ERR_NOT_CONVERGED": -91,
    "ERR_VIEW": -110,
    "ERR_PROGRAM": -111,
}
NAMES = {code: "MEND_" + name for name, code in CODES.items()}


class Error(Exception):
    """A call of the library failed. code: one of mend.ERR_*; the message has the facts."""

    def __init__(self, code, text=""):
        self.code = code
        self.name = NAMES.get(code, "error %d" % code)
        super().__init__("%s (%s)" % (text, self.name) if text else self.name)


class PeerFailed(Error):
    """A process of the job died. mend.run() repairs the job and enters the body again."""


class NoVersion(Error):
    """No version can be restored by all ranks."""


class Stopped(Error):
    """The job was stopped by agreement: it could not be repaired. All ranks get this."""


class NoLibrary(ImportError):
    """libmend cannot be loaded; the message names what was tried."""


KINDS = {
    CODES["ERR_PEER_FAILED"]: PeerFailed,
    CODES["ERR_NO_VERSION"]: NoVersion,
    CODES["ERR_STOPPED"]: Stopped,
}


def error(code, text=""):
    """The exception for a negative code."""
    return KINDS.get(code, Error)(code, text)
