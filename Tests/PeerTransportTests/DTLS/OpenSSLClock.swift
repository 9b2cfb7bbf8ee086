import Glibc
import NIOCore

/// The clock of OpenSSL's retransmission timer, on the calling thread.
///
/// OpenSSL reads the real clock by `gettimeofday`. This test program defines that function itself, and the dynamic
/// linker uses it for every library: inside `run` it returns a test's virtual time, elsewhere the system's.
enum OpenSSLClock {
    private static let key: pthread_key_t = {
        var key = pthread_key_t()
        pthread_key_create(&key, nil)
        return key
    }()

    /// Runs `body` in virtual time, which starts at `now` and is moved by `set`. Must not cross a suspension point.
    static func run<Result>(from now: NIODeadline, _ body: () throws -> Result) rethrows -> Result {
        let cell = UnsafeMutablePointer<UInt64>.allocate(capacity: 1)
        cell.initialize(to: now.uptimeNanoseconds)
        let before = pthread_getspecific(key)
        pthread_setspecific(key, cell)
        defer {
            pthread_setspecific(key, before)
            cell.deallocate()
        }
        return try body()
    }

    /// Moves this thread's virtual time. Outside of `run` it does nothing.
    static func set(_ now: NIODeadline) {
        pthread_getspecific(key)?.assumingMemoryBound(to: UInt64.self).pointee = now.uptimeNanoseconds
    }

    static var nanoseconds: UInt64? {
        pthread_getspecific(key)?.assumingMemoryBound(to: UInt64.self).pointee
    }
}

/// Replaces the C library's function of this name in the whole test program.
@_cdecl("gettimeofday")
public func interposedTimeOfDay(_ time: UnsafeMutableRawPointer?, _ zone: UnsafeMutableRawPointer?) -> CInt {
    var now = timespec()
    if let virtual = OpenSSLClock.nanoseconds {
        now.tv_sec = Int(virtual / 1_000_000_000)
        now.tv_nsec = Int(virtual % 1_000_000_000)
    } else {
        clock_gettime(CLOCK_REALTIME, &now)
    }
    time?.storeBytes(of: timeval(tv_sec: now.tv_sec, tv_usec: now.tv_nsec / 1000), as: timeval.self)
    return 0
}
