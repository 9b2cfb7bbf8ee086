import AsyncHTTPClient
import Foundation
import GatewayAPI
import IoTCore
import NIOCore
import NIOHTTP1
import Synchronization

/// One run of `iotctl diagnose`: plays the camera in a channel of its own, and observes it.
struct DiagnoseSession: Sendable {
    let client: GatewayClient
    let device: String
    let duration: Duration

    private struct Seen: Sendable {
        var rate = PictureRate()
        var level = SoundLevel()
        var failure: IoTError?
    }

    func run() async throws -> Diagnosis {
        var observation = DiagnosisObservation()
        let channel: ChannelDescription
        do {
            channel = try await client.call(
                .POST, APIPath("v1", "channels"), body: try APICoding.encode(ChannelRequest(device: device)))
        } catch let error as IoTError where error.code != .daemonUnreachable && error.code != .targetNotFound {
            observation.failure = error
            return Diagnosis(device: device, observation)
        }
        do {
            observation = try await observe(channel)
        } catch {
            _ = try? await close(channel)
            throw error
        }
        _ = try? await close(channel)
        return Diagnosis(device: device, observation)
    }

    private func close(_ channel: ChannelDescription) async throws -> ChannelDescription {
        try await client.call(.DELETE, APIPath("v1", "channels", channel.id), body: nil, timeout: .seconds(10))
    }

    private func observe(_ channel: ChannelDescription) async throws -> DiagnosisObservation {
        let seen = SeenBox()
        let updates = try await client.open(APIPath("v1", "channels", channel.id, "events"))
        let hasSound = channel.tracks.contains { $0.kind == .audio }
        let sound = hasSound ? try await client.open(APIPath("v1", "channels", channel.id, "audio.wav")) : nil
        await withTaskGroup(of: Void.self) { group in
            // The play ends when the time is up or the channel ends.
            group.addTask { await follow(updates, seen) }
            group.addTask { try? await Task.sleep(for: duration) }
            if let sound {
                group.addTask {
                    // A camera without sound has no body to read; the play continues.
                    do { for try await bytes in sound { seen.change { $0.level.take(bytes) } } } catch {}
                    while !Task.isCancelled { try? await Task.sleep(for: .seconds(60)) }
                }
            }
            do {
                let _: ChannelDescription = try await client.call(
                    .POST, APIPath("v1", "channels", channel.id, "play"), body: nil)
                await group.next()
            } catch {
                seen.change { $0.failure = $0.failure ?? error as? IoTError }
            }
            group.cancelAll()
        }
        let contents = seen.contents
        let final = try? await client.get(ChannelDescription.self, APIPath("v1", "channels", channel.id))
        return DiagnosisObservation(
            failure: contents.failure, channel: final ?? channel, pictureRate: contents.rate.perSecond,
            loudest: contents.level.loudest)
    }

    private func follow(_ updates: HTTPClientResponse.Body, _ seen: SeenBox) async {
        try? await client.forEachEvent(updates) { event in
            switch try ChannelUpdate(event) {
            case .statistics(let report): seen.change { $0.rate.take(report) }
            case .end(let description):
                if let reason = description.state.reason { seen.change { $0.failure = reason.error } }
                return false
            default: break
            }
            return true
        }
    }

    /// What the tasks have seen so far.
    private final class SeenBox: Sendable {
        private let seen = Mutex(Seen())

        var contents: Seen { seen.withLock { $0 } }

        func change(_ body: (inout Seen) -> Void) { seen.withLock { body(&$0) } }
    }
}
