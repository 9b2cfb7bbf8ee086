import Glibc

/// How many files this process, and the children that it starts, may have open (getrlimit(2)).
enum OpenFiles {
    /// What a broker has open beside its clients, with some to spare.
    static let ofProgram = 64

    /// Raises the soft limit, which is 1,024 in a shell: strangers at one listener would leave none for the others.
    ///
    /// - Returns: How many are allowed now; less than `count` where the hard limit is lower.
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
