package import IoTCore
import MediaCodec
package import NIOCore

// Sinks: recordings, decoded pictures and sound, snapshots.
extension PlayerCore {
    /// An older group is not part of the current picture: the camera was off, or its source was gone.
    private static let groupLife = TimeAmount.seconds(2)

    /// Writes the coded frames as fragmented MP4, from the newest key frame on. Stops after `frames` pictures, if set.
    ///
    /// - Parameter use: the use that owns the sink, here and below; it gets a warning when its reader loses frames, and
    ///   when the sink fails.
    package func addRecording(frames: Int?, of use: String? = nil, at now: NIODeadline) throws(IoTError) -> MediaSink {
        _ = try decoding()
        guard frames == nil || video != nil else { throw Self.noPicture() }
        let sink = RecordingSink(
            video: video, audio: audio, frames: frames, parts: parts, begun: now, onLoss: lossNotice(.recording, use),
            onFailure: failureNotice(use))
        try addRecorder(at: now) { _, _ in sink }
        sinks.add(.recording, of: use, sink.stream.room)
        return MediaSink(chunks: sink.stream) { sink.end(nil) }
    }

    /// Writes the coded frames of one track as they pass this point, from the next key frame on.
    package func addDump(
        _ point: FrameDump.Point, _ kind: MediaKind, of use: String? = nil
    ) throws(IoTError) -> (MediaSink, contentType: String) {
        _ = try decoding()
        let track: TrackParameters? =
            switch kind {
            case .video: video.map(TrackParameters.video)
            case .audio: audio.map(TrackParameters.audio)
            }
        guard let track else { throw kind == .video ? Self.noPicture() : Self.noSound() }
        let sink = DumpSink(
            try ElementaryStreamWriter(track), parts: parts, onLoss: lossNotice(.dump, use),
            onFailure: failureNotice(use))
        dumps.append(FrameDump(point: point, kind: kind, sink: sink))
        sinks.add(.dump, of: use, sink.stream.room)
        return (
            MediaSink(chunks: sink.stream) { sink.end(nil) }, contentType: ElementaryStreamWriter.contentType(track)
        )
    }

    func dump(_ frame: MediaFrame, at point: FrameDump.Point) {
        guard !dumps.isEmpty else { return }
        dumps.removeAll { $0.point == point && $0.kind == frame.kind && !$0.sink.take(frame) }
    }

    /// The recorder gets the coded frames, from the newest key frame on.
    package func addRecorder(
        at now: NIODeadline, _ make: (VideoParameters?, AudioParameters?) throws(IoTError) -> any Recorder
    ) throws(IoTError) {
        try capabilities.require(.recording)
        _ = try decoding()
        let recorder = try make(video, audio)
        recorder.turned(rotation)
        var feed = RecordingFeed(recorder)
        if let newest = group.entries.last, now - newest.time < Self.groupLife {
            for entry in group.entries {
                feed.take(entry.frame, presentAt: entry.time) { playout?.senderTime($0.kind, pts: $0.pts) }
            }
        }
        recordings.removeAll { $0.recorder.isClosed }
        recordings.append(feed)
    }

    /// The sink is made on its own thread and gets every picture from now on.
    package func addPictures(
        of use: String? = nil, view: PictureView = PictureView(), _ make: @escaping @Sendable () -> any PictureSink
    ) throws(IoTError) {
        try addPictures(.pictures, .limits(RawVideoSink.limits), of: use, view, make)
    }

    /// The sink is made on its own thread and gets all sound from now on.
    package func addSound(
        of use: String? = nil, presentation: Presentation? = nil, _ make: @escaping @Sendable () -> any SoundSink
    ) throws(IoTError) {
        try addSound(.sound, .limits(RawAudioSink.limits), of: use, presentation, make)
    }

    /// Answers the request with the newest picture, or with the next one if there is none yet.
    package func addSnapshot(_ wish: SnapshotWish) throws(IoTError) {
        try capabilities.require(.snapshot)
        try decoding().addSnapshot(wish)
    }

    /// Writes each decoded picture as YUV4MPEG2. Stops after `frames` pictures, if set.
    package func addRawVideo(
        frames: Int?, of use: String? = nil, view: PictureView = PictureView()
    ) throws(IoTError) -> MediaSink {
        let stream = ChunkStream(RawVideoSink.limits, frames: frames, onFailure: failureNotice(use))
        let rate = video?.frameRate ?? 0
        let queue = try addPictures(.rawVideo, .stream(stream), of: use, view) {
            RawVideoSink(frames: frames, frameRate: rate, stream: stream)
        }
        return MediaSink(chunks: stream) { queue.end(nil) }
    }

    /// Writes decoded sound as WAV. Stops where `frames` pictures end, if set.
    package func addRawAudio(
        frames: Int?, of use: String? = nil, presentation: Presentation? = nil
    ) throws(IoTError) -> MediaSink {
        let stream = ChunkStream(RawAudioSink.limits, onFailure: failureNotice(use))
        let rate = video?.frameRate ?? 0
        _ = try decoding()
        guard frames == nil || audio == nil || video != nil else { throw Self.noPicture() }
        let queue = try addSound(.rawAudio, .stream(stream), of: use, presentation) {
            RawAudioSink(frames: frames, frameRate: rate, stream: stream)
        }
        return MediaSink(chunks: stream) { queue.end(nil) }
    }

    @discardableResult
    private func addPictures(
        _ kind: SinkKind, _ target: SinkQueue<VideoPicture>.Target, of use: String?, _ view: PictureView,
        _ make: @escaping @Sendable () -> any PictureSink
    ) throws(IoTError) -> SinkQueue<VideoPicture> {
        try capabilities.require(.video)
        let stage = try decoding()
        guard video != nil else { throw Self.noPicture() }
        let queue = SinkQueue(
            name: kind.rawValue, target, parts: parts, view: view, onLoss: lossNotice(kind, use), pictures: make)
        sinks.add(kind, of: use, queue.room)
        stage.addPictures(queue)
        return queue
    }

    @discardableResult
    private func addSound(
        _ kind: SinkKind, _ target: SinkQueue<HeardMedia>.Target, of use: String?, _ presentation: Presentation?,
        _ make: @escaping @Sendable () -> any SoundSink
    ) throws(IoTError) -> SinkQueue<HeardMedia> {
        try capabilities.require(.audio)
        let stage = try decoding()
        guard audio != nil else { throw Self.noSound() }
        let queue = SinkQueue(
            name: kind.rawValue, target, parts: parts, presentation: presentation, onLoss: lossNotice(kind, use),
            sounds: make)
        sinks.add(kind, of: use, queue.room)
        stage.addSound(queue)
        return queue
    }

    /// Returns a callback that reports when a sink starts to lose frames.
    private func lossNotice(_ kind: SinkKind, _ use: String?) -> @Sendable () -> Void {
        let post = poster()
        return { post(.slowReader(kind, use: use)) }
    }

    /// Returns a callback that reports the error with which a sink ends. The end of the channel has its own event.
    private func failureNotice(_ use: String?) -> @Sendable (IoTError) -> Void {
        let post = poster()
        return { post(.sinkFailed($0, use: use)) }
    }

    private func poster() -> @Sendable (DecodeEvent) -> Void {
        let (events, wake, clock) = (decodeEvents, wake, parts.clock)
        return { event in
            if events.post(event, isUrgent: true, at: clock()) { wake() }
        }
    }

    private static func noPicture() -> IoTError {
        IoTError(.operationNotAllowed, "the camera sends no picture", remedy: "request the sound only")
    }

    private static func noSound() -> IoTError {
        IoTError(.operationNotAllowed, "the camera sends no sound", remedy: "request the picture only")
    }

    private func decoding() throws(IoTError) -> DecodeStage {
        guard let stage, !hasEnded else { throw IoTError(.channelDisconnected) }
        return stage
    }
}
