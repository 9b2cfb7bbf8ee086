import Glibc

/// How many files and sockets this process may have open.
enum FileLimit {
    /// Takes what the system allows: a shell's default of 1,024 is less than the API's connections alone, and a daemon
    /// without a descriptor left accepts nobody, not even its owner.
    static func raise() {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
        limit.rlim_cur = min(limit.rlim_max, 65_536)
        _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
}
