import IoTCore
import Logging
import NIOCore
import RTP
import RTSP

/// A viewer that reads a camera's RTP packets unchanged, such as an RTSP player. Confined to the camera's event loop.
///
/// It starts at the newest key frame. RTP times are the source's, because recorders store them, but without the jumps
/// of a source that restarts. A player that accepts too few bytes misses whole groups of pictures: its position in the
/// ring moves to a newer key frame.
final class StreamReader: CameraViewer {
    let session: String
    let account: String
    let isOwner: Bool
    let hearsOpus = false
    let rendition: Rendition

    private struct Track {
        let parameters: ReaderTrack
        var sender: RTPSender
    }

    /// The shortest of RFC 3550 §6.2. A report is a packet of its own, which costs as much as a picture.
    private static let reportInterval = TimeAmount.seconds(5)

    /// The largest delay of a slow player. After it, its position moves to a newer key frame.
    static let maximumLag = TimeAmount.seconds(2)

    private let stream: CameraStream
    private let sink: any ReaderSink
    private var tracks: [Track] = []
    /// Where each kind's track is in `tracks`, and whether it has a prefix: a look at a `Track` copies it.
    private var places: (video: Int?, audio: Int?) = (nil, nil)
    private var isInterleaved: (video: Bool, audio: Bool) = (false, false)
    private var feed = ViewerFeed()
    private var clock = ViewerClock()
    /// The time of the newest sent picture (audio if there is no video), in µs on the source's clock.
    private var lastSent: Int64?
    private var isPlaying = false
    private var hasEnded = false
    /// Whether the sink was not ready since the player was last at the live edge.
    private var isLate = false
    private var timer: Scheduled<Void>?
    /// How often this player's position has moved to a newer key frame.
    private(set) var skips = 0

    init(
        session: String, account: String, isOwner: Bool, stream: CameraStream, rendition: Rendition,
        sink: any ReaderSink
    ) {
        self.session = session
        self.account = account
        self.isOwner = isOwner
        self.stream = stream
        self.rendition = rendition
        self.sink = sink
    }

    // MARK: Tracks

    /// - Throws: `invalidParameter` for a track that the camera does not have.
    func add(_ track: ReaderTrack) throws(IoTError) {
        let all = rendition.readerTracks
        guard all.indices.contains(track.index), !tracks.contains(where: { $0.parameters.index == track.index }) else {
            throw IoTError(.invalidParameter, "the camera has no such track")
        }
        let (codec, kind) = (all[track.index].codec, all[track.index].parameters.kind)
        switch kind {
        case .video: (places.video, isInterleaved.video) = (tracks.count, track.channels != nil)
        case .audio: (places.audio, isInterleaved.audio) = (tracks.count, track.channels != nil)
        }
        tracks.append(
            Track(
                parameters: track,
                sender: RTPSender(
                    codec: codec, ssrc: track.ssrc, canonicalName: session, keepsHistory: false,
                    reportInterval: Self.reportInterval)))
    }

    private func place(of kind: MediaKind) -> Int? { kind == .video ? places.video : places.audio }
    private var video: CameraTrack? { places.video == nil ? nil : rendition.video }
    private var audio: CameraTrack? { places.audio == nil ? nil : rendition.audio }

    // MARK: Playing

    /// Determines where each track starts. `play` sends from that start.
    func prepare(at now: NIODeadline) -> [ReaderStart] {
        let (video, audio) = (video, audio)
        feed.start(video: video, audio: audio, at: now)
        let first = video.flatMap { $0.ring.packet(sequence: $0.startSequence)?.pts } ?? rendition.newest?.pts
        for index in tracks.indices { tracks[index].sender.abandonPicture() }
        // The new start is never before the media that the player already has.
        if let first { clock.begin(start: first, edge: first, after: lastSent) }
        return tracks.map { track in
            ReaderStart(
                index: track.parameters.index, sequenceNumber: track.sender.upcomingSequenceNumber,
                timestamp: first.map { track.sender.timestamp(ofMicroseconds: clock.place($0)) })
        }
    }

    func play(at now: NIODeadline) {
        guard !hasEnded else { return }
        isPlaying = true
        clockChanged()
        pump(at: now)
    }

    func stop() {
        isPlaying = false
        pause()
    }

    func pause() {
        feed.stop()
        timer?.cancel()
        timer = nil
    }

    func restart(at now: NIODeadline) {
        guard isPlaying else { return }
        _ = prepare(at: now)
        play(at: now)
    }

    func packetsCame(in rendition: Rendition, opusOnly: Bool, at now: NIODeadline) {
        if rendition === self.rendition, !opusOnly { pump(at: now) }
    }

    func pump(at now: NIODeadline) {
        guard isPlaying, stream.isOn else { return }
        guard sink.isReady else {
            isLate = true
            return
        }
        if !isLate, sendRun(at: now) { return sendReports(at: now) }
        let (video, audio) = (video, audio)
        catchUp(video: video, audio: audio, at: now)
        var batch = ReaderBatch()
        for (kind, packet) in feed.next(video: video, audio: audio, at: now) {
            guard let place = place(of: kind) else { continue }
            append(packet, kind, place, to: &batch, at: now)
        }
        if feed.timeout == nil { isLate = false }
        if !batch.packets.isEmpty {
            appendReports(to: &batch, at: now)
            sink.send(batch)
        }
        schedule()
    }

    /// At the live edge, the packets are those of all other readers there: they are laid out once.
    private func sendRun(at now: NIODeadline) -> Bool {
        let found = rendition.readerRun(feed) { $0 == .video ? isInterleaved.video : isInterleaved.audio }
        guard let (kind, run) = found, let place = place(of: kind),
            feed.take(
                kind, before: run.sequences.upperBound, byteCount: run.payloadByteCount, isPaced: !run.isInterleaved,
                at: now)
        else { return false }
        if kind == .video || tracks.count == 1 { lastSent = max(lastSent ?? .min, run.times.max() ?? .min) }
        let number = tracks[place].sender.send(run, at: now)
        let parameters = tracks[place].parameters
        let header = PacketRun.Header(
            ssrc: parameters.ssrc, sequenceNumber: number, channel: parameters.channels?.rtp ?? 0)
        let timestamps = tracks[place].sender.timestamps
        run.write(header) { timestamps.timestamp(ofMicroseconds: clock.place($0)) }
        sink.send(run, index: parameters.index)
        return true
    }

    private func sendReports(at now: NIODeadline) {
        guard isReportDue(at: now) else { return }
        var batch = ReaderBatch()
        appendReports(to: &batch, at: now)
        if !batch.packets.isEmpty { sink.send(batch) }
    }

    private func catchUp(video: CameraTrack?, audio: CameraTrack?, at now: NIODeadline) {
        guard isLate, let video, let next = feed.nextPicture, let newest = video.ring.newestKeyFrameSequence,
            next < newest
        else { return }
        // A packet that has left the ring is older than the limit.
        if let time = video.ring.time(ofSequence: next), now - time <= Self.maximumLag { return }
        feed.start(video: video, audio: audio, at: now)
        skips += 1
    }

    private func schedule() {
        guard timer == nil, let timeout = feed.timeout else { return }
        // Not weak, because each retain of an object with weak references is slow. `pause` cancels it.
        timer = stream.eventLoop.assumeIsolated().scheduleTask(deadline: timeout) { [self] in
            timer = nil
            pump(at: stream.eventLoop.now)
        }
    }

    // MARK: Packets

    private func append(
        _ packet: MediaPacket, _ kind: MediaKind, _ place: Int, to batch: inout ReaderBatch, at now: NIODeadline
    ) {
        if kind == .video || tracks.count == 1 { lastSent = max(lastSent ?? packet.pts, packet.pts) }
        let placed = packet.moved(to: clock.place(packet.pts), clockRate: tracks[place].sender.codec.clockRate)
        append(to: &batch, place, isReport: false) { track, bytes in track.sender.write(placed, into: &bytes, at: now) }
    }

    private func appendReports(to batch: inout ReaderBatch, at now: NIODeadline) {
        guard let source = rendition.clock, isReportDue(at: now) else { return }
        let anchor = MediaClockAnchor(pts: clock.live(source.pts), wallClock: source.wall)
        for place in tracks.indices {
            let packets = tracks[place].sender.report(at: now, wallClock: WallClock.microseconds(), anchor: anchor)
            guard let packets else { continue }
            append(to: &batch, place, isReport: true) { _, bytes in RTCPPacket.write(compound: packets, into: &bytes) }
        }
    }

    private func isReportDue(at now: NIODeadline) -> Bool {
        tracks.indices.contains { place in tracks[place].sender.reportDeadline.map { $0 <= now } ?? false }
    }

    private func append(
        to batch: inout ReaderBatch, _ place: Int, isReport: Bool, _ write: (inout Track, inout ByteBuffer) -> Void
    ) {
        let start = batch.bytes.writerIndex
        let channels = tracks[place].parameters.channels
        if let channels {
            batch.bytes.writeMultipleIntegers(
                UInt8(ascii: "$"), isReport ? channels.rtcp : channels.rtp, UInt16(0))
        }
        let content = batch.bytes.writerIndex
        write(&tracks[place], &batch.bytes)
        let length = batch.bytes.writerIndex - content
        if channels != nil { batch.bytes.setInteger(UInt16(clamping: length), at: start + 2) }
        batch.packets.append(.init(index: tracks[place].parameters.index, isReport: isReport, length: length))
    }

    // MARK: Events

    func uses(_ rendition: Rendition) -> Bool { self.rendition === rendition }

    // It stays at its rendition.
    func keyFrameCame(in rendition: Rendition, at now: NIODeadline) {}

    func clockChanged() {
        for place in tracks.indices { tracks[place].sender.clockChanged(at: stream.eventLoop.now) }
    }

    func clockJumped(to pts: Int64, expected: Int64) { clock.jump(to: pts, expected: expected) }

    // RTSP players reorder pictures themselves.
    func picturesReordered() {}

    /// Processes the player's report for a track.
    func receive(_ report: ByteBuffer, index: Int, at now: NIODeadline) {
        guard let place = tracks.firstIndex(where: { $0.parameters.index == index }),
            let packets = try? RTCPPacket.parseCompound(report)
        else { return }
        // Requests for retransmission are ignored.
        for packet in packets { _ = tracks[place].sender.handle(packet, at: now) }
    }

    // MARK: End

    func end(_ reason: IoTError) {
        guard !hasEnded else { return }
        var batch = ReaderBatch()
        for place in tracks.indices {
            let goodbye = tracks[place].sender.goodbye()
            // RFC 3550 §6.1: a compound packet begins with a report.
            let empty = RTCPPacket.receiverReport(RTCPReceiverReport(ssrc: tracks[place].sender.ssrc, reports: []))
            append(to: &batch, place, isReport: true) { _, bytes in
                RTCPPacket.write(compound: [empty, goodbye], into: &bytes)
            }
        }
        if isPlaying, !batch.packets.isEmpty { sink.send(batch) }
        finish(reason)
        sink.ended(reason)
    }

    func hungUp() { finish(nil) }

    private func finish(_ reason: IoTError?) {
        guard !hasEnded else { return }
        hasEnded = true
        stop()
        stream.remove(session: session)
        var metadata: Logger.Metadata = ["viewer.user": "\(account)", "viewer.session": "\(session)"]
        if let reason { metadata["error.code"] = "\(reason.code.rawValue)" }
        if skips > 0 { metadata["reader.skips"] = "\(skips)" }
        stream.logger.info("viewer left", metadata: metadata)
    }
}

extension Rendition {
    /// The tracks that readers get, in the order of their indexes.
    var readerTracks: [CameraTrack] { [video, audio].compactMap { $0 } }
}
