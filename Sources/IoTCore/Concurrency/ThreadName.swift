#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The name that tools such as `top -H` and `perf` show for a thread.
package enum ThreadName {
    /// Names the calling thread; Linux keeps the first 15 bytes. A failure is ignored because nothing depends on the
    /// name.
    package static func set(_ name: String) {
        // pthread_setname_np requires a macro that Swift does not set.
        let file = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { return }
        var bytes = Array(name.utf8.prefix(15))
        _ = write(file, &bytes, bytes.count)
        close(file)
    }
}
