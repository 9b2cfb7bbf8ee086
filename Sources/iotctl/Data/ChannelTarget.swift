import ArgumentParser
import Foundation
import GatewayAPI
import IoTCore
import NIOHTTP1

/// An open channel by its id, or a device, to which a channel is opened for one command.
struct ChannelTarget {
    static let help = ArgumentHelp(
        "A channel's id; or a device's id or name, to which a channel is opened for this command.",
        valueName: "channel")

    private let name: String

    init(_ name: String) {
        self.name = name
    }

    private var isChannel: Bool { name.utf8.count == 16 && Hex.decode(name) != nil }

    /// Runs `work` with the channel's id, until it ends or is interrupted.
    func use(
        _ options: GlobalOptions, _ work: @escaping @Sendable (GatewayClient, String) async throws -> Void
    ) async throws {
        let interruptible = InterruptibleWork()
        try await options.withClient { client in
            guard !isChannel else {
                return try await Self.run(interruptible) { [name] in try await work(client, name) }
            }
            let request = ChannelRequest(device: name, kind: .transmission)
            let channel: ChannelDescription = try await client.call(.POST, APIPath("v1", "channels"), request)
            var failure: (any Error)?
            do {
                try await interruptible.run { try await work(client, channel.id) }
            } catch {
                failure = error
            }
            let _: ChannelDescription? = try? await client.call(
                .DELETE, APIPath("v1", "channels", channel.id), body: nil, timeout: .seconds(10))
            if let interrupted = failure as? InterruptibleWork.Interrupted { interrupted.exit() }
            if let failure { throw failure }
        }
    }

    private static func run(
        _ interruptible: InterruptibleWork, _ work: @escaping @Sendable () async throws -> Void
    ) async throws {
        do {
            try await interruptible.run(work)
        } catch let interrupted as InterruptibleWork.Interrupted {
            interrupted.exit()
        }
    }
}
