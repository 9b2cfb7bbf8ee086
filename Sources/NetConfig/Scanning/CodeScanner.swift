public import IoTCore

/// Looks for a provisioning code in a camera's pictures.
///
/// Its processor time is bounded: it scans a limited number of pictures a second, reduced in size. Not Sendable;
/// scanning blocks, so use it on the decoding thread.
public final class CodeScanner {
    private let pause: Duration
    private let longestSide: Int
    private var reader: CodeReader?
    private var next: ContinuousClock.Instant?

    /// - Parameters:
    ///   - picturesPerSecond: 1 to 30; 4 by default, which finds a code that is held still for half a second.
    ///   - longestSide: Larger pictures are reduced to this, in pixels; 320 to 4096. With the default of 1280 a code
    ///     of version 8 that fills a fifth of the picture's width keeps four pixels a module.
    public init(picturesPerSecond: Int = 4, longestSide: Int = 1280) {
        pause = .seconds(1) / max(1, min(30, picturesPerSecond))
        self.longestSide = max(320, min(4096, longestSide))
    }

    /// Whether `scan` would scan a picture now. Check this before you decode or copy a picture for it.
    public func isDue(at time: ContinuousClock.Instant) -> Bool {
        next.map { time >= $0 } ?? true
    }

    /// Looks for codes in a plane of brightness, if a scan is due.
    ///
    /// - Parameter stride: The number of bytes from one row to the next.
    /// - Returns: The codes' bytes; `ScannedCode` interprets them.
    /// - Throws: 25016 if libzbar is not installed.
    public func scan(
        plane: UnsafeRawBufferPointer, stride: Int, width: Int, height: Int, at time: ContinuousClock.Instant
    ) throws(IoTError) -> [[UInt8]] {
        guard isDue(at: time) else { return [] }
        next = time + pause
        guard
            let picture = LumaPicture(
                plane: plane, stride: stride, width: width, height: height, longestSide: longestSide)
        else { return [] }
        if let reader { return reader.read(picture) }
        let reader = try CodeReader()
        self.reader = reader
        return reader.read(picture)
    }
}
