package import IoTCore
import NIOCore

/// A frame as it arrived.
package struct ArrivedFrame: Sendable {
    package var frame: MediaFrame
    package var now: Moment
    /// Whether the wall clock is synchronised.
    package var isSynchronised: Bool

    package init(_ frame: MediaFrame, now: Moment, isSynchronised: Bool) {
        self.frame = frame
        self.now = now
        self.isSynchronised = isSynchronised
    }
}

/// Lets a camera's frames through during events, and keeps those before one in memory, whole groups of pictures. A value
/// without I/O.
package struct EventGate: Sendable {
    package struct Limits: Sendable, Hashable {
        /// How much is recorded before an event, and after its end, µs.
        package var before: Int64
        package var after: Int64
        /// The most bytes in memory; a camera that sends more in `before` has less recorded before an event.
        package var bytes: Int

        package init(before: Int64 = 5_000_000, after: Int64 = 10_000_000, bytes: Int = 32 << 20) {
            self.before = before
            self.after = after
            self.bytes = bytes
        }
    }

    private let limits: Limits
    /// Begins with a key frame, once there was one.
    private var waiting: [ArrivedFrame] = []
    /// The places in `waiting` where decoding can begin.
    private var keys: [Int] = []
    private var byteCount = 0
    private let hasPictures: Bool
    /// When recording ends, on the monotonic clock; `nil` outside of events.
    private var end: Int64?

    /// - Parameter hasPictures: whether decoding begins at key frames of pictures; otherwise at every frame.
    package init(_ limits: Limits, hasPictures: Bool) {
        self.limits = limits
        self.hasPictures = hasPictures
    }

    package var isOpen: Bool { end != nil }

    /// An event lasts at least until this time of the monotonic clock.
    ///
    /// - Returns: what came before it.
    package mutating func open(until end: Int64) -> [ArrivedFrame] {
        self.end = max(self.end ?? .min, end + limits.after)
        defer { clear() }
        return waiting
    }

    /// - Returns: the frames to be recorded now, and whether the event is over before them.
    package mutating func take(_ arrived: ArrivedFrame) -> (frames: [ArrivedFrame], ends: Bool) {
        if let end {
            guard arrived.now.monotonic > end else { return ([arrived], false) }
            self.end = nil
            keep(arrived)
            return ([], true)
        }
        keep(arrived)
        return ([], false)
    }

    /// Frames are missing: nothing before them is of use.
    package mutating func clear() {
        waiting = []
        keys = []
        byteCount = 0
    }

    private mutating func keep(_ arrived: ArrivedFrame) {
        let isKey = hasPictures ? arrived.frame.kind == .video && arrived.frame.isKeyFrame : true
        guard isKey || !keys.isEmpty else { return }
        if isKey { keys.append(waiting.count) }
        waiting.append(arrived)
        byteCount += arrived.frame.bytes.readableBytes
        guard isKey || byteCount > limits.bytes else { return }
        let oldest = arrived.now.monotonic - limits.before
        while keys.count > 1, waiting[keys[1]].now.monotonic <= oldest || byteCount > limits.bytes { dropGroup() }
        // One group alone is too large.
        if byteCount > limits.bytes { clear() }
    }

    private mutating func dropGroup() {
        let count = keys[1]
        byteCount -= waiting.prefix(count).reduce(0) { $0 + $1.frame.bytes.readableBytes }
        waiting.removeFirst(count)
        keys.removeFirst()
        for index in keys.indices { keys[index] -= count }
    }
}
