import IoTCore
import Sealing

extension Configuration.Recording {
    /// Reads the keys of recordings.
    ///
    /// - Throws: `.fileFailed` or `.invalidConfiguration`.
    func keys() throws(IoTError) -> [SealingKey] {
        var keys: [SealingKey] = []
        for path in keyFiles {
            do throws(IoTError) {
                guard let key = SealingKey(text: try SecretFile.read(path)) else {
                    throw IoTError(
                        .invalidConfiguration, "\(path) does not contain a key of 64 hexadecimal digits",
                        remedy: "create one with `iotctl recording key \(path)`")
                }
                keys.append(key)
            } catch {
                throw error.withMessage("recording.keyFiles: \(error.message)")
            }
        }
        return keys
    }
}
