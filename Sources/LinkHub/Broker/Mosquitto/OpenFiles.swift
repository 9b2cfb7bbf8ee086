import Glibc

/// How many files this process and its children may have open (getrlimit(2)).
enum OpenFiles {
    /// The files that a broker has open besides its clients, with some to spare.
    static let ofProgram = 64

    /// Raises the soft limit, which is 1,024 in a shell. Otherwise clients of one listener would leave none for the
    /// others.
    ///
    /// - Returns: The number that is now allowed; less than `count` if the hard limit is lower.
    static func raise(to count: Int) -> Int {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        guard getrlimit(resource, &limit) == 0 else { return count }
        if limit.rlim_cur < count {
            var raised = limit
            raised.rlim_cur = min(limit.rlim_max, rlim_t(count))
            if setrlimit(resource, &raised) == 0 { limit = raised }
        }
        return Int(clamping: limit.rlim_cur)
    }
}
