import AsyncHTTPClient
import Foundation
import GatewayAPI
import IoTCore

/// Prints bytes that a device sent: as they are, each followed by a newline, or in base64 as JSON.
struct ReceivedBytes {
    let isJSON: Bool

    func show(_ message: MessageData) throws {
        if isJSON { return try Console.printJSONLine(message) }
        guard let data = Data(base64Encoded: message.data) else {
            throw IoTError(.internalFailure, "the daemon's answer is not base64")
        }
        try Console.print(data)
    }

    /// Prints the responses of a request while they come.
    func follow(_ body: HTTPClientResponse.Body, _ client: GatewayClient) async throws {
        try await client.forEachEvent(body) { text in
            switch try MessageEvent(text) {
            case .response(let data)?:
                try show(data)
                return true
            case .failed(let error)?: throw error.error
            case .end?: return false
            case nil: return true
            }
        }
    }
}
