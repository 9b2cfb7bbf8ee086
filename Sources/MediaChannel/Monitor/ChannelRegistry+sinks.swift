public import IoTCore
public import MediaPlayer

// The sinks of a use. Frames that a slow reader loses are counted and reported only in its own use.
extension ChannelRegistry.Use {
    /// Writes the coded frames as fragmented MP4, from the newest key frame on, also while others watch. Stops after
    /// `frames` pictures, if set. End it with `end()` or by releasing the iterator of its chunks.
    public func record(frames: Int?) async throws(IoTError) -> MediaSink {
        try await channel.record(frames: frames, of: id)
    }

    /// The newest picture, or the next one if there is none yet; see `MonitorChannel.snapshot`.
    public func snapshot(_ format: PictureFormat, fit: PictureFit? = nil) async throws(IoTError) -> Snapshot {
        try await channel.snapshot(format, view: PictureView(presentation, fit: fit))
    }

    /// Writes each decoded picture as YUV4MPEG2. Stops after `frames` pictures, if set. On a channel that already
    /// plays, it starts with the next picture.
    public func rawVideo(frames: Int?, fit: PictureFit? = nil) async throws(IoTError) -> MediaSink {
        try await channel.rawVideo(frames: frames, of: id, view: PictureView(presentation, fit: fit))
    }

    /// Writes decoded sound as WAV. Stops where `frames` pictures end, if set.
    public func rawAudio(frames: Int?) async throws(IoTError) -> MediaSink {
        try await channel.rawAudio(frames: frames, of: id, presentation: presentation)
    }

    /// Writes the coded frames of one track as they pass this point, from the next key frame on.
    ///
    /// - Returns: the sink, and its content type.
    public func dump(
        _ point: FrameDump.Point, _ kind: MediaKind
    ) async throws(IoTError) -> (MediaSink, contentType: String) {
        try await channel.dump(point, kind, of: id)
    }

    /// Writes the decoded frames of one track as Y4M or WAV, without the presentation of this use.
    public func dumpDecoded(_ kind: MediaKind) async throws(IoTError) -> (MediaSink, contentType: String) {
        switch kind {
        case .video:
            (try await channel.rawVideo(frames: nil, of: id, view: PictureView()), contentType: "video/x-yuv4mpeg")
        case .audio:
            (try await channel.rawAudio(frames: nil, of: id, presentation: Presentation()), contentType: "audio/wav")
        }
    }

    /// The sink is made on its own thread and gets each decoded picture from now on.
    public func addPictures(_ make: @escaping @Sendable () -> any PictureSink) async throws(IoTError) {
        try await channel.addPictures(of: id, view: PictureView(presentation), make)
    }

    /// The sink is made on its own thread and gets all decoded sound from now on.
    public func addSound(_ make: @escaping @Sendable () -> any SoundSink) async throws(IoTError) {
        try await channel.addSound(of: id, presentation: presentation, make)
    }
}
