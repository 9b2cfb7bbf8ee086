import GatewayAPI
import IoTCore
import IoTLink
import Logging
import Synchronization
import ThingModel

/// Keeps a gateway's grants up to date while the hub is there: at the beginning of each session, when a device says
/// another place, when rights change, and each hour.
struct LANGrants {
    private static let interval = Duration.seconds(3_600)
    private static let pause = Duration.seconds(2)
    private static let timeout = Duration.seconds(10)

    private let link: LANGatewayLink
    private let account: AccessID

    init(_ link: LANGatewayLink, account: AccessID) {
        self.link = link
        self.account = account
    }

    func run() async {
        let (news, teller) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        await withDiscardingTaskGroup { group in
            group.addTask {
                for await push in link.hub.pushes() where Self.isNews(push) { teller.yield() }
            }
            group.addTask {
                for await change in link.hub.statusChanges() where change.status == .online { teller.yield() }
            }
            group.addTask {
                while (try? await Task.sleep(for: Self.interval)) != nil { teller.yield() }
            }
            for await _ in news where link.hub.current.status == .online {
                await refresh()
                // Much news at once needs one look.
                guard (try? await Task.sleep(for: Self.pause)) != nil else { break }
            }
            group.cancelAll()
        }
    }

    /// Whether there may be a device with another place, or other rights to one.
    private static func isNews(_ push: LinkPush) -> Bool {
        if let update = ModelMethod.update.parameters(of: push) {
            return update.path == "ProReadonly.\(CameraProperty.lan)"
        }
        return [DeviceMethod.bound.name, DeviceMethod.unbound.name, LANMethod.ended.name].contains(push.method)
    }

    /// Asks the hub for the account's devices on the network, and for a grant for each of them.
    private func refresh() async {
        do throws(IoTError) {
            let client = HubClient(link: link.hub, account: nil)
            let devices = try await client.page(ModelMethod.listDevices, .all, of: nil).elements
            var entries: [LANBook.Entry] = []
            for device in devices.prefix(LANBook.limit)
            where device.role != nil && (device.actions ?? []).contains(.view) {
                if let entry = await entry(device, client) { entries.append(entry) }
            }
            let book = LANBook(entries)
            if link.book.replace(with: book) { try PrivateFile.write(book.json.jsonText + "\n", to: link.file) }
        } catch {
            link.logger.info(
                "the grants for the local network could not be renewed",
                metadata: ["link.code": "\(error.code.rawValue)", "link.reason": "\(error.message)"])
        }
    }

    /// - Returns: `nil` for a device that is not reached on its network.
    private func entry(_ device: ThingModel.DeviceSummary, _ client: HubClient) async -> LANBook.Entry? {
        do throws(IoTError) {
            let details = try await client.ask(
                ModelMethod.showDevice, DeviceReference(device: device.id.rawValue), timeout: Self.timeout)
            guard let value = details.model["ProReadonly"]?[CameraProperty.lan]?["stVal"], let place = LANPlace(value)
            else { return nil }
            try await learnKey(details)
            let grant = try await client.ask(
                LANMethod.grant, LANGrantQuery(device: device.id, key: link.key.publicKey.fingerprint),
                timeout: Self.timeout)
            return LANBook.Entry(
                device: device.id, name: device.name, role: device.role, actions: BindingActions(device.actions ?? []),
                place: place, grant: grant.token, expires: grant.expires)
        } catch {
            link.logger.info(
                "a device has no grant for the local network",
                metadata: [
                    "device": "\(device.name)", "link.code": "\(error.code.rawValue)",
                    "link.reason": "\(error.message)",
                ])
            // The one from before is still good.
            return link.book.value[device.id]
        }
    }

    /// The first key that the hub reports is stored, as at the first look at the device.
    private func learnKey(_ details: DeviceDetails) async throws(IoTError) {
        let place = KnownDevices.Place(account: account, device: details.summary.id)
        let key = details.model["ProConst"]?[CameraProperty.signingKey]?.stringValue.flatMap { DevicePublicKey($0) }
        guard let key, try await link.keys.entry(place) == nil else { return }
        let entry = KnownDevices.Entry(fingerprint: key.fingerprint, source: .hub, since: WallClock.milliseconds())
        _ = try await link.keys.keep(entry, at: place)
    }
}
