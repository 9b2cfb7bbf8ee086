import CFFmpeg
public import Logging
import NIOCore
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// libav's global state: its log.
///
/// By default, libav logs to stderr, and a corrupt stream causes thousands of lines. Here its errors go to a logger,
/// rate-limited, and all other lines are dropped.
public enum LibAV {
    /// Logs libav's errors to `logger` at debug level, at most ten in ten seconds; nil (the default) drops them.
    public static func setLogger(_ logger: Logger?) {
        initialize()
        sink.withLock { $0 = LogSink(logger: logger) }
    }

    /// Redirects libav's log. Call this before any other call into libav; only the first call has an effect.
    static func initialize() {
        _ = once
    }

    private static let once: Void = {
        av_log_set_level(AV_LOG_ERROR)
        av_log_set_callback { _, level, format, arguments in
            guard level <= AV_LOG_ERROR, let format, let arguments else { return }
            LibAV.log(format: format, arguments: arguments)
        }
    }()

    private static let sink = Mutex(LogSink(logger: nil))

    // libav calls this from any thread, including its decoder threads.
    private static func log(format: UnsafePointer<CChar>, arguments: CVaListPointer) {
        sink.withLock { sink in
            guard sink.logger != nil, sink.admits(at: .now()) else { return }
            let line = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 512) { buffer -> String in
                guard let base = buffer.baseAddress, vsnprintf(base, buffer.count, format, arguments) > 0 else {
                    return ""
                }
                return String(cString: base)
            }
            sink.write(line)
        }
    }
}

/// Logs at most ten lines in ten seconds, without credentials in URLs.
struct LogSink {
    var logger: Logger?
    private var windowEnd = NIODeadline.uptimeNanoseconds(0)
    private var linesLeft = 0
    private var suppressed = 0

    init(logger: Logger?) {
        self.logger = logger
    }

    mutating func admits(at now: NIODeadline) -> Bool {
        if now >= windowEnd {
            windowEnd = now + .seconds(10)
            linesLeft = 10
        }
        guard linesLeft > 0 else {
            suppressed += 1
            return false
        }
        linesLeft -= 1
        return true
    }

    mutating func write(_ line: String) {
        var text = line
        while text.last?.isNewline == true { text.removeLast() }
        guard !text.isEmpty else { return }
        logger?.debug(
            "libav reports an error",
            metadata: ["libav.message": "\(SourceAddress.redact(text))", "libav.suppressed": "\(suppressed)"])
        suppressed = 0
    }
}
