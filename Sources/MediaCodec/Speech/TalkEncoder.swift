import CFFmpeg
package import IoTCore
package import NIOCore

/// Encodes speech for a camera's loudspeaker: mono of 48 kHz becomes G.711 or AAC of another rate.
///
/// Not Sendable.
package final class TalkEncoder {
    package static let sampleRate = 48_000

    private let parameters: AudioParameters
    private let converter: SampleConverter
    private let aac: AACEncoder?

    /// - Parameter parameters: PCMU, PCMA or AAC LC.
    /// - Throws: `mediaFailed`, `codecUnsupported`.
    package init(_ parameters: AudioParameters) throws(IoTError) {
        self.parameters = parameters
        switch parameters.codec {
        case .pcmu, .pcma: aac = nil
        case .aac: aac = try AACEncoder(sampleRate: parameters.sampleRate, channels: parameters.channels)
        case .opus: throw IoTError(.codecUnsupported, "the camera's loudspeaker needs a codec that is not encoded here")
        }
        converter = try SampleConverter(
            from: .init(sampleFormat: AV_SAMPLE_FMT_S16, sampleRate: Self.sampleRate, channels: 1, channelMask: 0),
            to: .init(sampleFormat: AV_SAMPLE_FMT_S16, sampleRate: parameters.sampleRate, channels: 1, channelMask: 0))
    }

    /// Samples of 48 kHz at the camera's rate. A few are held back for the next call.
    package func resample(_ samples: [Int16]) throws(IoTError) -> [Int16] {
        var converted = ByteBuffer()
        _ = try samples.withUnsafeBufferPointer { buffer throws(IoTError) -> Int in
            var plane = UnsafeRawBufferPointer(buffer).assumingMemoryBound(to: UInt8.self).baseAddress
            return try converter.convert(&plane, count: samples.count, into: &converted)
        }
        return converted.withUnsafeReadableBytes { Array($0.bindMemory(to: Int16.self)) }
    }

    /// The coded packets of samples at the camera's rate: one of G.711; the complete access units of AAC, of which the
    /// first comes later.
    package func encode(_ samples: [Int16]) throws(IoTError) -> [ByteBuffer] {
        guard let aac else {
            return [ByteBuffer(bytes: samples.map(parameters.codec == .pcmu ? G711.muLaw : G711.aLaw))]
        }
        var sound = ByteBuffer()
        sound.reserveCapacity(2 * samples.count * parameters.channels)
        for sample in samples {
            for _ in 0..<parameters.channels { sound.writeInteger(sample, endianness: .little) }
        }
        return try aac.encode(sound).map(\.bytes)
    }
}
