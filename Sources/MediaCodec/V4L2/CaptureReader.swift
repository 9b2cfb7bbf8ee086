public import IoTCore
import NIOCore

/// Options for capturing.
public struct CaptureOptions: Sendable, Hashable {
    /// In pixels: the largest of the device's sizes that fits is taken. Default 1280 × 720.
    public var width: Int
    public var height: Int

    /// Pictures a second. Default 30.
    public var frameRate: Int

    /// The maximum time without a whole picture, also at the start. Default 10 s.
    public var timeout: Duration

    public init(width: Int = 1280, height: Int = 720, frameRate: Int = 30, timeout: Duration = .seconds(10)) {
        self.width = width
        self.height = height
        self.frameRate = frameRate
        self.timeout = timeout
    }
}

/// Reads a V4L2 camera: its own H.264 or H.265 as it is, and its JPEG or raw pictures encoded as H.264.
///
/// When encoding takes longer than the device's pictures come, the newest is encoded and the older ones are dropped, so
/// that no delay builds up.
public final class CaptureReader: SourceReader {
    /// How long a wait lasts at most before the cancellation is looked at, as in libav.
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

    /// Pictures that came damaged or incomplete, which are dropped too.
    public private(set) var damagedPictures = 0

    /// Opens the device and waits for its first picture.
    ///
    /// - Throws: `sourceNotFound`, `sourceForbidden`, `sourceBusy`, `sourceUnsupported` (not a camera, or its formats
    ///   cannot be used), `sourceUnreachable` (unplugged, or no picture came), `stopping` (cancelled).
    public init(
        path: String, options: CaptureOptions = CaptureOptions(),
        cancellation: DemuxerCancellation = DemuxerCancellation()
    ) throws(IoTError) {
        let device = try V4L2Device(path: path)
        let offers = device.offers()
        guard let choice = CaptureChoice(offers, wanted: PixelSize(width: options.width, height: options.height)) else {
            let found = offers.isEmpty ? "none" : offers.map { FourCC.name($0.code) }.joined(separator: ", ")
            throw IoTError(
                .sourceUnsupported, "the device \(path) offers no format that can be used; it has \(found)",
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
            guard .now() < end else { throw silence }
            guard try device.wait(atMost: Self.waitingTime), let picture = try takeNewest() else { continue }
            if let frame = try convert(picture) { return frame }
        }
    }

    private var silence: IoTError {
        let seconds = timeout.nanoseconds / 1_000_000_000
        let what = damagedInARow > 0 ? "only damaged pictures" : "no picture"
        return IoTError(
            .sourceUnreachable, "the device \(device.path) sent \(what) for \(seconds) s",
            remedy: "plug it in again, at best at another port; a smaller `pictureSize` or `frameRate` needs less of "
                + "the USB bus")
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

    /// Counts the pictures for which the driver had no buffer.
    private func count(_ picture: V4L2Device.Picture) {
        if let sequence {
            let gap = picture.sequence &- sequence
            // Some drivers start again, or leave it 0.
            if gap > 1, gap < 1 << 16 { droppedPictures += Int(gap) - 1 }
        }
        sequence = picture.sequence
    }

    private func convert(_ picture: V4L2Device.Picture) throws(IoTError) -> MediaFrame? {
        let time = clock.place(picture.time, now: Int64(NIODeadline.now().uptimeNanoseconds / 1_000))
        let result = Result { () throws(IoTError) in try convert(picture, at: time) }
        // Before anything is thrown: the driver needs its buffer.
        try device.queue(picture.index)
        return try result.get()
    }

    private func convert(_ picture: V4L2Device.Picture, at time: Int64) throws(IoTError) -> MediaFrame? {
        var frame: MediaFrame?
        switch conversion {
        case .coded(var assembler):
            frame = assemble(picture, at: time, &assembler)
            conversion = .coded(assembler)
            // Parameter sets may come in a buffer of their own, and nothing can be shown before the first key frame.
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
