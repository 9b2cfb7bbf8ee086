package import IoTCore
import NIOCore

/// The tracks of one MP4 segment. Their parameters never change within it: a changed parameter starts a new segment.
package struct SegmentTracks: Sendable, Hashable {
    package var video: VideoParameters?
    package var audio: AudioParameters?

    package init(video: VideoParameters? = nil, audio: AudioParameters? = nil) {
        self.video = video
        self.audio = audio
    }

    /// The tracks of a segment that starts with `frame`: the parameter sets of a key frame are newer than those of its
    /// track.
    package func starting(with frame: MediaFrame) -> SegmentTracks {
        guard frame.kind == .video, let video else { return self }
        var store = ParameterSetStore(codec: video.codec)
        store.absorb(frame.parameterSets(video.codec))
        if !store.isComplete {
            store = ParameterSetStore(codec: video.codec)
            store.absorb(video.parameterSets)
            store.absorb(frame.parameterSets(video.codec))
        }
        guard store.isComplete, let sequence = store.sequence else { return self }
        var tracks = self
        tracks.video?.parameterSets = store.parameterSets
        tracks.video?.width = sequence.width
        tracks.video?.height = sequence.height
        return tracks
    }

    /// Whether a segment with these tracks can hold the frame: it contains no parameter set that they lack.
    package func canHold(_ frame: MediaFrame) -> Bool {
        guard frame.kind == .video, frame.isKeyFrame, let video else { return true }
        return frame.parameterSets(video.codec).allSatisfy { video.parameterSets.contains($0) }
    }
}

extension MediaFrame {
    /// The access unit's VPS, SPS and PPS, without lengths.
    func parameterSets(_ codec: VideoCodec) -> [[UInt8]] {
        nalUnits.compactMap { unit in
            guard let first = unit.getInteger(at: unit.readerIndex, as: UInt8.self),
                NALUnitType(codec: codec, firstByte: first).isParameterSet
            else { return nil }
            return Array(unit.readableBytesView)
        }
    }
}
