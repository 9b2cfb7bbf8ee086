public import IoTCore
public import MediaPlayer

// What a use takes of its channel. What a slow reader loses is counted and told in its own use, and in no other.
extension ChannelRegistry.Use {
    /// The coded frames as fragmented MP4, from the newest key frame on, also while others watch; ends after
    /// `frames` pictures, if set. End it with `end()`, or by leaving its chunks.
    public func record(frames: Int?) async throws(IoTError) -> MediaSink {
        try await channel.record(frames: frames, of: id)
    }

    /// Each decoded picture as YUV4MPEG2; ends after `frames` pictures, if set. On a channel that plays already it
    /// begins with the next picture.
    public func rawVideo(frames: Int?) async throws(IoTError) -> MediaSink {
        try await channel.rawVideo(frames: frames, of: id)
    }

    /// Decoded sound as WAV; ends where `frames` pictures end when that is given.
    public func rawAudio(frames: Int?) async throws(IoTError) -> MediaSink {
        try await channel.rawAudio(frames: frames, of: id)
    }

    /// The sink, made on a thread of its own, gets each decoded picture from now on.
    public func addPictures(_ make: @escaping @Sendable () -> any PictureSink) async throws(IoTError) {
        try await channel.addPictures(of: id, make)
    }

    /// The sink, made on a thread of its own, gets all decoded sound from now on.
    public func addSound(_ make: @escaping @Sendable () -> any SoundSink) async throws(IoTError) {
        try await channel.addSound(of: id, make)
    }
}
