import ArgumentParser
import Firmware
import GatewayAPI
import IoTCore

extension FirmwareCommand {
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Show the newest release for a device.",
            discussion: """
                Also for a device that is offline: from the version that it last reported, or
                from --current-version. Can be written without 'show'.

                EXAMPLES
                  iotctl firmware front
                  iotctl firmware show front --current-version 0.1.0 --language de
                """)

        @Argument(help: ArgumentHelp("The device's id or name.", valueName: "id"), completion: .devices)
        var device: String

        @Option(
            help: ArgumentHelp("Instead of the version that the device reported.", valueName: "version"),
            transform: VersionArgument.version)
        var currentVersion: FirmwareVersion?

        @Option(help: ArgumentHelp("The description's language. (default: yours, from LANG)", valueName: "tag"))
        var language: String?

        @OptionGroup var options: GlobalOptions

        func validate() throws {
            if let language, !LocalizedText.isTag(language) {
                throw ValidationError("--language must be a language's tag, such as en or zh-CN")
            }
        }

        func run() async throws {
            let path = APIPath(
                "v1", "devices", device, "firmware",
                query: ["currentVersion": currentVersion?.description, "language": language ?? UserLanguage.tag()])
            let offer = try await options.withClient { try await $0.get(FirmwareOffer.self, path) }
            if options.json { return try Console.printJSON(offer) }
            let installed = offer.currentVersion ?? "unknown"
            guard offer.available, let version = offer.version else {
                return try Console.print("version \(installed): there is no newer release")
            }
            var pairs = [("installed", installed), ("newest", version)]
            if let size = offer.size { pairs.append(("size", Format.size(Int(size)))) }
            if let url = offer.url { pairs.append(("file", url)) }
            if let text = offer.description { pairs.append(("what is new", text.replacing("\n", with: " "))) }
            try Console.print(Table.pairs(pairs))
        }
    }
}
