public import IoTCore

/// Encodes what is said to a device: 48 kHz mono, as Opus in packets of 20 ms. Called on a thread of its own.
public protocol SpokenSoundEncoder: AnyObject {
    /// - Parameter samples: 960 samples.
    /// - Returns: one packet; `nil` for silence that need not be sent.
    func encode(_ samples: [Int16]) throws(IoTError) -> [UInt8]?
}

extension SpeechEncoder: SpokenSoundEncoder {
    package func encode(_ samples: [Int16]) throws(IoTError) -> [UInt8]? {
        var result: Result<[UInt8]?, IoTError> = .success(nil)
        samples.withUnsafeBufferPointer { samples in
            do throws(IoTError) {
                result = .success(try encode(samples))
            } catch {
                result = .failure(error)
            }
        }
        return try result.get()
    }
}
