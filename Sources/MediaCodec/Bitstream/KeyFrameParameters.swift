package import IoTCore

/// What the parameter sets of key frames say. They are parsed only if they are not the same bytes as before, which they
/// nearly always are.
package struct KeyFrameParameters: Sendable {
    private var last: [[UInt8]] = []

    package init() {}

    /// - Returns: the new parameters; `nil` if the sets are the same as before, or there is no valid one.
    package mutating func changed(_ codec: VideoCodec, in keyFrame: MediaFrame) -> VideoParameters? {
        let sets = keyFrame.parameterSets(codec)
        guard sets != last else { return nil }
        last = sets
        return VideoParameters(codec: codec, parameterSets: sets)
    }
}
