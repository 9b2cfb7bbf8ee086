import CFFmpeg
import IoTCore
import NIOCore

/// Converts a video stream's packets into frames.
final class VideoTrackReader {
    private(set) var parameters: VideoParameters

    private var assembler: AccessUnitAssembler
    private let timeBase: AVRational
    private var hasStarted = false
    private var lastPTS: Int64?
    private var lastDTS: Int64?
    private var gap = StartingGap()
    private let isLive: Bool
    private var order: PresentationOrder?
    private var orderParser: PictureOrderParser?

    init(_ stream: UnsafeMutablePointer<AVStream>, codec: VideoCodec, isLive: Bool) {
        self.isLive = isLive
        let coded = stream.pointee.codecpar.pointee
        timeBase = stream.pointee.time_base
        let extradata = coded.extradata.map {
            Array(UnsafeBufferPointer(start: $0, count: max(0, Int(coded.extradata_size))))
        }
        assembler = AccessUnitAssembler(codec: codec, extradata: extradata ?? [])
        let sequence = assembler.store.sequence
        let measured = plausibleFrameRate(av_q2d(stream.pointee.avg_frame_rate))
        let nominal = plausibleFrameRate(av_q2d(stream.pointee.r_frame_rate))
        // A live source's average contains the jitter of about a second; a file's average is exact.
        let frameRate =
            isLive ? sequence?.frameRate ?? nominal ?? measured : measured ?? sequence?.frameRate ?? nominal
        parameters = VideoParameters(
            codec: codec, parameterSets: assembler.store.parameterSets,
            width: sequence?.width ?? Int(coded.width), height: sequence?.height ?? Int(coded.height),
            frameRate: frameRate ?? 0,
            reorderDepth: max(sequence?.reorderDepth ?? 0, min(16, max(0, Int(coded.video_delay)))))
    }

    /// Restarts the clock; the current parameter sets are kept.
    func rewind() {
        hasStarted = false
        lastPTS = nil
        lastDTS = nil
        order = nil
        gap = StartingGap()
    }

    /// Returns none, one or, if times had to be derived, several frames in decoding order.
    func read(_ packet: UnsafeMutablePointer<AVPacket>) throws(IoTError) -> [MediaFrame] {
        takeNewExtradata(packet)
        guard let data = packet.pointee.data, packet.pointee.size > 0 else { return [] }
        let bytes = UnsafeRawBufferPointer(start: data, count: Int(packet.pointee.size))
        let isMarkedKey = packet.pointee.flags & AV_PKT_FLAG_KEY != 0
        guard let unit = assembler.assemble(bytes, isMarkedKey: isMarkedKey) else { return [] }
        if unit.didChangeParameterSets { takeParameterSets() }
        if !hasStarted {
            guard unit.isKeyFrame, assembler.store.isComplete else { return [] }
            hasStarted = true
        }
        return try place(unit, packet.pointee)
    }

    /// Returns the frames that still wait for their times, at the end of the source.
    func finish() throws(IoTError) -> [MediaFrame] {
        var frames = order?.finish() ?? []
        for timed in gap.finish() { frames += try place(timed, startsSequence: false) }
        return frames
    }

    // An MP4 with several sample descriptions changes its parameter sets with new extradata.
    private func takeNewExtradata(_ packet: UnsafeMutablePointer<AVPacket>) {
        var size = 0
        guard let data = av_packet_get_side_data(packet, AV_PKT_DATA_NEW_EXTRADATA, &size), size > 0 else { return }
        assembler = AccessUnitAssembler(
            codec: parameters.codec, extradata: Array(UnsafeBufferPointer(start: data, count: size)))
        takeParameterSets()
    }

    private func takeParameterSets() {
        parameters.parameterSets = assembler.store.parameterSets
        guard let sequence = assembler.store.sequence else { return }
        parameters.width = sequence.width
        parameters.height = sequence.height
        if let depth = sequence.reorderDepth { parameters.reorderDepth = max(parameters.reorderDepth, depth) }
        if parameters.frameRate == 0, let rate = sequence.frameRate { parameters.frameRate = rate }
    }

    private var frameDuration: Int64 {
        parameters.frameRate > 0 ? Int64(1_000_000 / parameters.frameRate) : 40_000
    }

    private func place(_ unit: AccessUnitAssembler.AccessUnit, _ packet: AVPacket) throws(IoTError) -> [MediaFrame] {
        let duration = packet.duration > 0 ? microseconds(packet.duration) ?? frameDuration : frameDuration
        let frame = MediaFrame(kind: .video, isKeyFrame: unit.isKeyFrame, pts: 0, dts: 0, bytes: unit.bytes)
        let timed = TimedFrame(
            frame: frame, pts: microseconds(packet.pts), dts: microseconds(packet.dts), duration: duration)
        if isLive {
            var frames: [MediaFrame] = []
            for timed in gap.push(timed, depth: parameters.reorderDepth) {
                frames += try place(timed, startsSequence: false)
            }
            return frames
        }
        return try place(timed, startsSequence: unit.startsSequence)
    }

    private func place(_ timed: TimedFrame, startsSequence: Bool) throws(IoTError) -> [MediaFrame] {
        var frame = timed.frame
        let depth = Int64(parameters.reorderDepth)
        if let pts = timed.pts, order == nil {
            frame.pts = pts
            frame.dts =
                timed.dts ?? lastDTS.map { min(pts, saturating($0, timed.duration)) }
                ?? (depth == 0 ? pts : saturating(pts, -depth * timed.duration))
        } else {
            let next = timed.dts ?? lastDTS.map { saturating($0, timed.duration) } ?? 0
            frame.dts = next
            // If a stream's first frames have no times, none of its frames has.
            if depth > 0, lastPTS == nil || order != nil, !isLive {
                lastDTS = next
                return try placeByOrder(frame, startsSequence: startsSequence, duration: timed.duration)
            }
            frame.pts = max(next, lastPTS.map { saturating($0, timed.duration) } ?? next)
        }
        lastPTS = frame.pts
        lastDTS = frame.dts
        return [frame]
    }

    private func placeByOrder(
        _ frame: MediaFrame, startsSequence: Bool, duration: Int64
    ) throws(IoTError) -> [MediaFrame] {
        var order = order ?? PresentationOrder(depth: parameters.reorderDepth, frameDuration: duration)
        let parser: PictureOrderParser
        if let orderParser {
            parser = orderParser
        } else {
            parser = try PictureOrderParser(codec: parameters.codec)
            orderParser = parser
        }
        let placed = order.push(
            frame, orderCount: parser.orderCount(of: frame.bytes), startsSequence: startsSequence)
        self.order = order
        return placed
    }

    private func microseconds(_ time: Int64) -> Int64? {
        MediaCodec.microseconds(time, timeBase)
    }
}
