import IoTCore
import IoTLink
import Yams

/// One key of an item of `cameras`.
struct CameraKey: Sendable {
    let name: String
    let defaultText: String
    let apply: @Sendable (Node, ConfigurationKey.Context, inout CameraDraft) throws(ValueRefusal) -> Void

    init(
        _ name: String, default defaultText: String,
        _ apply: @escaping @Sendable (Node, ConfigurationKey.Context, inout CameraDraft) throws(ValueRefusal) -> Void
    ) {
        self.name = name
        self.defaultText = defaultText
        self.apply = apply
    }

    static let all: [CameraKey] = [
        CameraKey("name", default: "none") { node, _, draft throws(ValueRefusal) in
            let name = try node.text()
            guard DeviceName.isValid(name) else { throw ValueRefusal(CameraConfiguration.nameRule) }
            draft.name = name
        },
        CameraKey("url", default: "none") { node, context, draft throws(ValueRefusal) in
            let text = try node.text()
            let source: CameraSource
            do throws(IoTError) {
                source = try CameraSource(text, relativeTo: context.directory)
            } catch {
                throw ValueRefusal(error.messageWithRemedy)
            }
            guard !source.holdsPassword || FileSecrecy.owner.allows(path: context.file) else {
                throw ValueRefusal(
                    "holds a password, and others than the owner may read this file: chmod 600 \(context.file), "
                        + "or use username and passwordFile")
            }
            draft.source = source
        },
        CameraKey("viewers", default: "8") { node, _, draft throws(ValueRefusal) in
            draft.viewers = try node.integer(in: 1...10_000)
        },
        CameraKey("rtspTransport", default: "tcp") { node, _, draft throws(ValueRefusal) in
            draft.rtspTransport = try node.choice(CameraConfiguration.Transport.self)
        },
        CameraKey("username", default: "none") { node, _, draft throws(ValueRefusal) in
            draft.username = try node.text()
        },
        CameraKey("passwordFile", default: "none") { node, context, draft throws(ValueRefusal) in
            draft.passwordFile = context.path(try node.text())
        },
    ]
}
