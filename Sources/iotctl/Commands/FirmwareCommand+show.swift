import ArgumentParser
import Firmware
import GatewayAPI
import IoTCore
import NIOHTTP1

extension FirmwareCommand {
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Show the newest release for a device, or upgrade the device to it.",
            discussion: """
                Also for a device that is offline: from the version that it last reported, or
                from --current-version. Can be written without 'show'.

                --upgrade starts the upgrade of the device's box and returns; --watch follows it
                until the new version runs, or the upgrade has failed. --cancel ends an upgrade
                that is still downloading; what was downloaded is kept for the next one.

                EXAMPLES
                  iotctl firmware front
                  iotctl firmware front --upgrade --watch
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

        @Flag(help: "Upgrade the device's box to the newest release.")
        var upgrade = false

        @Flag(help: "With --upgrade, follow it to its end.")
        var watch = false

        @Flag(help: "Cancel the upgrade.")
        var cancel = false

        @Option(
            help: ArgumentHelp("The longest time without progress. (default: 10m)", valueName: "time"),
            transform: DurationArgument.parse)
        var timeout: DurationArgument?

        @OptionGroup var options: GlobalOptions

        func validate() throws {
            guard !upgrade || !cancel else { throw ValidationError("--upgrade and --cancel cannot be combined") }
            guard !watch || upgrade else { throw ValidationError("--watch requires --upgrade") }
            guard timeout == nil || watch else { throw ValidationError("--timeout requires --watch") }
            guard !upgrade && !cancel || currentVersion == nil && language == nil else {
                throw ValidationError("--current-version and --language are only for the newest release")
            }
            if let language, !LocalizedText.isTag(language) {
                throw ValidationError("--language must be a language's tag, such as en or zh-CN")
            }
        }

        func run() async throws {
            if upgrade || cancel { return try await order() }
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

        /// Starts or cancels an upgrade.
        private func order() async throws {
            let request = ActionRequest(
                path: "Action._otaUpgrade.ctlVal", value: upgrade ? 1 : 0, timeoutMilliseconds: 10_000)
            try await options.withClient { client in
                let progress = try await UpgradeWatch(client, device: device)
                let answer: ActionResponse = try await client.call(
                    .POST, APIPath("v1", "devices", device, "actions"), request)
                guard watch else {
                    if options.json { return try Console.printJSON(answer) }
                    return try Console.print(upgrade ? "the upgrade has begun" : "cancelled")
                }
                let outcome = try await progress.run(client, limit: timeout?.duration ?? .seconds(600))
                guard outcome == .installed else {
                    throw IoTError(.hungUp, "the upgrade was cancelled", remedy: "start it again")
                }
                if options.json { return try Console.printJSON(answer) }
                try Console.print("\(device): the new version runs")
            }
        }
    }
}
