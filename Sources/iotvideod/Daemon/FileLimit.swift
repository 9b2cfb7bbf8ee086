import Glibc

/// The number of files and sockets that this process may have open.
enum FileLimit {
    /// Raises the limit as far as the system allows, to at most 65,536. A shell's default of 1,024 is less than the
    /// API's connections need, and without free descriptors a daemon accepts no connections, not even the owner's.
    static func raise() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = min(limit.rlim_max, 65_536)
        _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}
