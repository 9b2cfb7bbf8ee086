import ArgumentParser
import GatewayAPI
import IoTCore

extension CompletionKind {
    static let devices = names { try await $0.get(DeviceList.self, APIPath("v1", "devices")).devices.map(\.name) }
    static let cameras = names { try await $0.get(CameraList.self, APIPath("v1", "cameras")).cameras.map(\.name) }
    static let users = names { try await $0.get(UserList.self, APIPath("v1", "users")).users.map(\.accessId) }
    static let keys = names { try await $0.get(KeyList.self, APIPath("v1", "keys")).keys.map(\.id) }
    static let tokens = names { try await $0.get(TokenList.self, APIPath("v1", "tokens")).tokens.map(\.id) }

    /// Names from the daemon; none if it does not answer at once.
    private static func names(_ ask: @escaping @Sendable (GatewayClient) async throws -> [String]) -> CompletionKind {
        .custom { words, _, prefix in
            await NameCompletion(words: words).names(ask).filter { $0.hasPrefix(prefix) }.sorted()
        }
    }
}
