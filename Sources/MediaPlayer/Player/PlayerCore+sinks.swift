package import IoTCore
package import NIOCore

// Who takes what is played.
extension PlayerCore {
    /// An older group is not part of what is seen now: the camera was off, or its source was gone.
    private static let groupLife = TimeAmount.seconds(2)

    /// The coded frames as fragmented MP4, from the newest key frame on; ends after `frames` pictures, if set.
    package func addRecording(frames: Int?, at now: NIODeadline) throws(IoTError) -> MediaSink {
        _ = try decoding()
        guard frames == nil || video != nil else { throw Self.noPicture() }
        let sink = RecordingSink(video: video, audio: audio, frames: frames)
        try addRecorder(at: now) { _, _ in sink }
        return MediaSink(chunks: sink.stream) { sink.end(nil) }
    }

    /// The recorder gets the coded frames, from the newest key frame on.
    package func addRecorder(
        at now: NIODeadline, _ make: (VideoParameters?, AudioParameters?) throws(IoTError) -> any Recorder
    ) throws(IoTError) {
        try capabilities.require(.recording)
        _ = try decoding()
        var feed = RecordingFeed(try make(video, audio))
        if let newest = group.entries.last, now - newest.time < Self.groupLife {
            for entry in group.entries {
                feed.take(entry.frame, presentAt: entry.time) { playout?.senderTime($0.kind, pts: $0.pts) }
            }
        }
        recordings.append(feed)
    }

    /// The sink, made on the decoding thread, gets each picture from now on.
    package func addPictures(_ make: @escaping @Sendable () -> any PictureSink) throws(IoTError) {
        let stage = try decoding()
        guard video != nil else { throw Self.noPicture() }
        stage.addPictures(make)
    }

    /// The sink, made on the decoding thread, gets all sound from now on.
    package func addSound(_ make: @escaping @Sendable () -> any SoundSink) throws(IoTError) {
        let stage = try decoding()
        guard audio != nil else {
            throw IoTError(.operationNotAllowed, "the camera sends no sound", remedy: "ask for its picture only")
        }
        stage.addSound(make)
    }

    /// The newest picture, or the next one where there is none yet.
    package func addSnapshot(_ wish: SnapshotWish) throws(IoTError) {
        try capabilities.require(.snapshot)
        try decoding().addForOnePicture { SnapshotSink(wish) }
    }

    /// Each decoded picture as YUV4MPEG2; ends after `frames` pictures, if set.
    package func addRawVideo(frames: Int?) throws(IoTError) -> MediaSink {
        let stream = ChunkStream(limit: RawVideoSink.queueLimit)
        let rate = video?.frameRate ?? 0
        try addPictures { RawVideoSink(frames: frames, frameRate: rate, stream: stream) }
        return MediaSink(chunks: stream) { stream.finish() }
    }

    /// Decoded sound as WAV; ends where `frames` pictures end when that is given.
    package func addRawAudio(frames: Int?) throws(IoTError) -> MediaSink {
        let stream = ChunkStream(limit: RawAudioSink.queueLimit)
        let rate = video?.frameRate ?? 0
        _ = try decoding()
        guard frames == nil || audio == nil || video != nil else { throw Self.noPicture() }
        try addSound { RawAudioSink(frames: frames, frameRate: rate, stream: stream) }
        return MediaSink(chunks: stream) { stream.finish() }
    }

    private static func noPicture() -> IoTError {
        IoTError(.operationNotAllowed, "the camera sends no picture", remedy: "ask for its sound only")
    }

    private func decoding() throws(IoTError) -> DecodeStage {
        guard let stage, !hasEnded else { throw IoTError(.channelDisconnected) }
        return stage
    }
}
