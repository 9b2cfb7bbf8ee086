import ArgumentParser
import GatewayAPI
import NIOHTTP1

extension CameraCommand {
    struct ReplaceKey: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "replace-key", abstract: "Replace the signing key of a camera of this daemon.",
            discussion: """
                The camera gets a new key, which the old one signs, and starts again with it.
                Its viewers' calls end. Gateways that know the old key, or one of the seven
                before it, accept the new one at the next call, because of the signatures, and
                'iotctl device show' then has the new fingerprint. A key that a thief has copied
                can also sign another one: then remove cameras/NAME/key.pem and key-succession
                and restart the daemon; its users must run 'iotctl device key DEVICE --forget'.

                EXAMPLES
                  iotctl camera replace-key front
                """)

        @Argument(help: "The camera's name.", completion: .cameras)
        var name: String

        @OptionGroup var options: GlobalOptions

        func run() async throws {
            let key: CameraKeyDescription = try await options.withClient {
                try await $0.call(.POST, APIPath("v1", "cameras", name, "key"), body: nil)
            }
            if options.json { return try Console.printJSON(key) }
            try Console.print(Table.pairs([("key", "\(key.fingerprint)"), ("signed by", "\(key.previous)")]))
        }
    }
}
