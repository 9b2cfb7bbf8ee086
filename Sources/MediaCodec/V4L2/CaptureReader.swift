public import IoTCore
import NIOCore

/// Options for capturing.
public struct CaptureOptions: Sendable, Hashable {
    /// In pixels. The device's largest size that fits is used. Default 1280 × 720.
    public var width: Int
    public var height: Int

    /// Pictures per second. Default 30.
    public var frameRate: Int

    /// The maximum time without a complete picture, also at the start. Default 10 s.
    public var timeout: Duration

    public init(width: Int = 1280, height: Int = 720, frameRate: Int = 30, timeout: Duration = .seconds(10)) {
        self.width = width
        self.height = height
        self.frameRate = frameRate
        self.timeout = timeout
    }
}

/// Reads a V4L2 camera: returns its H.264 or H.265 unchanged, and encodes its JPEG or raw pictures as H.264.
///
/// If encoding is slower than the device, the newest picture is encoded and older ones are dropped, so the delay does
/// not grow.
public final class CaptureReader: SourceReader {
    /// The maximum wait, in ms, before the cancellation is checked again. libav uses the same.
    private static let waitingTime: Int32 = 100

    private enum Conversion {
        case coded(AccessUnitAssembler)
        case pictures(CapturedPictures)
    }

    private let device: V4L2Device
    private let mode: CaptureMode
    private let timeout: TimeAmount
    private let cancellation: DemuxerCancellation
    private let frameRate: Double
    private var conversion: Conversion
    private var clock = CaptureClock()
    private var rate: PictureRate
    private var sequence: UInt32?
    private var damagedInARow = 0
    private var first: MediaFrame?

    public private(set) var video: VideoParameters?
    public var audio: AudioParameters? { nil }
    public var unsupportedTracks: [String] { [] }
    public private(set) var droppedPictures = 0

    /// The number of damaged or incomplete pictures. `droppedPictures` includes them.
    public private(set) var damagedPictures = 0

    /// Opens the device and waits for its first picture.
    ///
    /// - Throws: `sourceNotFound`, `sourceForbidden`, `sourceBusy`, `sourceUnsupported` (not a camera, or its formats
    ///   are not supported), `sourceUnreachable` (disconnected, or it sent no picture), `stopping` (cancelled).
    public init(
        path: String, options: CaptureOptions = CaptureOptions(),
        cancellation: DemuxerCancellation = DemuxerCancellation()
    ) throws(IoTError) {
        let device = try V4L2Device(path: path)
        let offers = device.offers()
        guard let choice = CaptureChoice(offers, wanted: PixelSize(width: options.width, height: options.height)) else {
            let found = offers.isEmpty ? "none" : offers.map { FourCC.name($0.code) }.joined(separator: ", ")
            throw IoTError(
                .sourceUnsupported, "the device \(path) offers no supported format; it has \(found)",
                remedy: "use a camera with one of " + CaptureFormat.all.map(\.name).joined(separator: ", "))
        }
        mode = try device.set(choice)
        frameRate = CaptureMode.rate(
            wanted: Double(options.frameRate), reported: device.setFrameRate(options.frameRate))
        switch mode.format.content {
        case .coded(let codec):
            device.setKeyFrames(every: max(1, Int(2 * frameRate)))
            conversion = .coded(AccessUnitAssembler(codec: codec, extradata: []))
        case .jpeg, .raw:
            conversion = .pictures(try CapturedPictures(mode, frameRate: frameRate))
        }
        self.device = device
        self.cancellation = cancellation
        timeout = TimeAmount(options.timeout)
        rate = PictureRate(frameRate)
        try device.start()
        first = try nextFrame()
    }

    public func readFrame() throws(IoTError) -> MediaFrame? {
        if let first {
            self.first = nil
            return first
        }
        return try nextFrame()
    }

    public func rewind() throws(IoTError) {
        throw IoTError(.operationNotAllowed, "a live source cannot be rewound", remedy: "open it again")
    }

    private func nextFrame() throws(IoTError) -> MediaFrame {
        let end = NIODeadline.now() + timeout
        while true {
            guard !cancellation.isCancelled else { throw IoTError(.stopping, "reading \(device.path) was cancelled") }
            guard .now() < end else { throw timeoutError }
            guard try device.wait(atMost: Self.waitingTime), let picture = try takeNewest() else { continue }
            if let frame = try convert(picture) { return frame }
        }
    }

    private var timeoutError: IoTError {
        let seconds = timeout.nanoseconds / 1_000_000_000
        let what = damagedInARow > 0 ? "only damaged pictures" : "no picture"
        return IoTError(
            .sourceUnreachable, "the device \(device.path) sent \(what) for \(seconds) s",
            remedy: "connect it again, if possible to another USB port; a smaller `pictureSize` or `frameRate` needs "
                + "less bandwidth")
    }

    /// The next access unit, or the newest picture.
    private func takeNewest() throws(IoTError) -> V4L2Device.Picture? {
        guard var newest = try device.dequeue() else { return nil }
        count(newest)
        guard case .pictures = conversion else { return newest }
        while let later = try device.dequeue() {
            try device.queue(newest.index)
            droppedPictures += 1
            newest = later
            count(newest)
        }
        return newest
    }

    /// Counts the pictures that the driver lost because no buffer was free.
    private func count(_ picture: V4L2Device.Picture) {
        if let sequence {
            let gap = picture.sequence &- sequence
            // Some drivers restart the sequence, or leave it 0.
            if gap > 1, gap < 1 << 16 { droppedPictures += Int(gap) - 1 }
        }
        sequence = picture.sequence
    }

    private func convert(_ picture: V4L2Device.Picture) throws(IoTError) -> MediaFrame? {
        let time = clock.place(picture.time, now: Int64(NIODeadline.now().uptimeNanoseconds / 1_000))
        let result = Result { () throws(IoTError) in try convert(picture, at: time) }
        // Also after an error, because the driver needs its buffer.
        try device.queue(picture.index)
        return try result.get()
    }

    private func convert(_ picture: V4L2Device.Picture, at time: Int64) throws(IoTError) -> MediaFrame? {
        var frame: MediaFrame?
        switch conversion {
        case .coded(var assembler):
            frame = assemble(picture, at: time, &assembler)
            conversion = .coded(assembler)
            // No frame is not damage here: a buffer may contain only parameter sets, and frames before the first key frame
            // are not returned.
            guard picture.isDamaged else {
                if frame != nil { damagedInARow = 0 }
                return frame
            }
        case .pictures(let pictures):
            guard rate.admits(time) else {
                droppedPictures += 1
                return nil
            }
            if !picture.isDamaged { frame = try pictures.encode(picture.bytes, at: time) }
            video = pictures.parameters
        }
        damagedInARow = frame == nil ? damagedInARow + 1 : 0
        if frame == nil {
            damagedPictures += 1
            droppedPictures += 1
        }
        return frame
    }

    private func assemble(
        _ picture: V4L2Device.Picture, at time: Int64, _ assembler: inout AccessUnitAssembler
    ) -> MediaFrame? {
        guard !picture.isDamaged,
            let unit = assembler.assemble(picture.bytes, isMarkedKey: picture.isKeyFrame)
        else { return nil }
        if unit.isKeyFrame, video == nil || unit.didChangeParameterSets, assembler.store.isComplete {
            video = VideoParameters(codec: assembler.store.codec, parameterSets: assembler.store.parameterSets)
            if video?.frameRate == 0 { video?.frameRate = frameRate }
        }
        guard video != nil else { return nil }
        return MediaFrame(kind: .video, isKeyFrame: unit.isKeyFrame, pts: time, dts: time, bytes: unit.bytes)
    }
}
