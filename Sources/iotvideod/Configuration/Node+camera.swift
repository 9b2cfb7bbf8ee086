import IoTCore
import IoTLink
import Yams

extension Node {
    /// Reads one key of a camera. A refused value is not set.
    func read(
        _ key: CameraKey, _ context: ConfigurationKey.Context, into camera: inout CameraSettings
    ) throws(ValueRefusal) {
        let value: JSONValue =
            switch key.form {
            case .text: .string(try text())
            case .path: .string(context.path(try text()))
            case .source: .string(try source(text(), context))
            case .sources: .string(try sources(key, context))
            case .wholeNumber, .choice: plainValue
            }
        guard key.set(value, &camera) else { throw ValueRefusal(key.requirement) }
        guard key.isAllowed(camera) else {
            key.clear(&camera)
            throw ValueRefusal(key.requirement)
        }
    }

    private func sources(
        _ key: CameraKey, _ context: ConfigurationKey.Context
    ) throws(ValueRefusal) -> String {
        guard let list = SourceList(try text()) else { throw ValueRefusal(key.requirement) }
        return try list.map { url throws(ValueRefusal) in try source(url, context) }
    }

    private func source(_ text: String, _ context: ConfigurationKey.Context) throws(ValueRefusal) -> String {
        let source: CameraSource
        do throws(IoTError) {
            source = try CameraSource(text, relativeTo: context.directory)
        } catch {
            throw ValueRefusal(error.messageWithRemedy)
        }
        guard !source.holdsPassword || FileSecrecy.owner.allows(path: context.file) else {
            throw ValueRefusal(
                "contains a password, and users other than the owner may read this file: chmod 600 \(context.file), "
                    + "or use username and passwordFile")
        }
        return source.url
    }
}
