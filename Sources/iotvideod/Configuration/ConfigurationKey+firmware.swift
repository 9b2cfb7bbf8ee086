import Foundation
import IoTCore
import Yams

extension ConfigurationKey {
    static let firmware: [ConfigurationKey] = [
        ConfigurationKey("firmware.keyFiles", default: "[]", \.firmware.keyFiles) {
            node, context throws(ValueRefusal) in
            try node.list { item throws(ValueRefusal) in context.path(try item.text()) }
        },
        ConfigurationKey("firmware.directory", default: "none", \.firmware.directory) {
            node, context throws(ValueRefusal) in context.path(try node.text())
        },
        ConfigurationKey("firmware.times", default: "02:00-05:00", \.firmware.times) {
            node, _ throws(ValueRefusal) in
            let text = try node.text()
            guard RecordingTimes(text) != nil else { throw ValueRefusal(RecordingTimes.requirement) }
            return text
        },
        ConfigurationKey("firmware.url", default: "none", \.firmware.url) { node, _ throws(ValueRefusal) in
            let text = try node.text()
            guard let parts = URLComponents(string: text), let host = parts.host, !host.isEmpty,
                parts.path.isEmpty, parts.query == nil, parts.fragment == nil, parts.user == nil, parts.password == nil
            else { throw ValueRefusal("must be https://HOST:PORT") }
            let isLoopback = host == "localhost" || host == "[::1]" || host.hasPrefix("127.")
            guard parts.scheme == "https" || parts.scheme == "http" && isLoopback else {
                throw ValueRefusal("must be https://HOST:PORT, because the token would be sent unencrypted")
            }
            return text
        },
        ConfigurationKey("firmware.tokenFile", default: "none", \.firmware.tokenFile) {
            node, context throws(ValueRefusal) in context.path(try node.text())
        },
        ConfigurationKey("firmware.certificateAuthorityFile", default: "none", \.firmware.certificateAuthorityFile) {
            node, context throws(ValueRefusal) in context.path(try node.text())
        },
    ]
}
