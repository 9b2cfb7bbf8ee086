import IoTCore
import IoTLink
import NIOCore
import ThingModel

/// Requests of devices about their own models, and deliveries to devices.
extension HubCore {
    /// `model.login`: the device sends its schema and values, and gets the writes that it missed.
    mutating func login(
        _ login: ModelLogin, _ device: DeviceID, at time: HubTime
    ) throws(IoTError) -> LoginDeliveries {
        let old = state.models[device]
        var model = old ?? ThingDocument(schema: login.schema)
        let outcome = try model.login(login, at: time.seconds)
        store(model, of: device, replacing: old)
        for change in outcome.changes { turn.updates.append(PropertyNotice(device: device, change: change)) }
        if !outcome.dropped.isEmpty { noteDropped(outcome.dropped, of: device, at: time) }
        sessions.loggedIn(.device(device))
        forwards.dropDeliveries(to: device)
        markOnline(device, true, at: time)
        return LoginDeliveries(writable: outcome.writable)
    }

    /// Writes the rows that differ.
    private mutating func store(_ model: ThingDocument, of device: DeviceID, replacing old: ThingDocument?) {
        state.models[device] = model
        if old?.schema != model.schema {
            turn.changes.append(
                .putModel(device, schema: model.schema.vendorForm.jsonText, version: model.version))
        }
        var stored = Dictionary(uniqueKeysWithValues: (old?.storedProperties ?? []).map { ($0.path, $0) })
        for property in model.storedProperties where stored.removeValue(forKey: property.path) != property {
            turn.changes.append(.putProperty(device, property))
        }
        for path in stored.keys { turn.changes.append(.removeProperty(device, path: path)) }
        turn.changes.append(.modelVersion(device, model.version))
    }

    /// `model.report`: applies all of the changes, or none.
    mutating func report(
        _ report: ModelReport, _ device: DeviceID, at time: HubTime
    ) throws(IoTError) -> VersionOutcome {
        var model = try loggedInModel(of: device)
        var changes: [PropertyChange] = []
        for change in report.changes {
            changes.append(try model.report(change.path, change.value, at: time.seconds))
        }
        state.models[device] = model
        for change in changes { record(change, of: device) }
        return VersionOutcome(version: model.version)
    }

    /// `model.applied`: the device has carried out a written value.
    mutating func noteApplied(_ applied: AppliedProperty, _ device: DeviceID) throws(IoTError) {
        _ = try loggedInModel(of: device)
        guard let stored = try state.models[device]?.markApplied(applied.path, version: applied.version) else { return }
        turn.changes.append(.applied(device, path: stored, version: applied.version))
    }

    private func loggedInModel(of device: DeviceID) throws(IoTError) -> ThingDocument {
        guard sessions[.device(device)]?.hasLoggedIn == true, let model = state.models[device] else {
            throw IoTError(.invalidRequest, "send model.login first")
        }
        return model
    }

    // MARK: Notices

    /// The notices about a transaction's changes, once they are stored.
    mutating func takeNotices(at time: HubTime) -> [HubOutput] {
        turn = HubTurn()
        for update in notices.take() {
            pushUpdate(update, at: time)
            if update.isForDevice { deliver(update.change.path, to: update.device, attempt: 1, at: time) }
        }
        return turn.outputs
    }

    private mutating func pushUpdate(_ update: PropertyNotice, at time: HubTime) {
        let addresses = userAddresses(of: update.device)
        guard !addresses.isEmpty else { return }
        var notice = PropertyUpdateNotice(device: update.device, update.change, hasLeaves: true)
        if pushToUsers(at: addresses, ModelMethod.update.push(notice, t: time.wall)) { return }
        // The leaves may be as long as the value. If both do not fit, the value alone is sent.
        notice.changes = nil
        pushToUsers(at: addresses, ModelMethod.update.push(notice, t: time.wall))
    }

    /// Sends an online device the newest value of a written property, one message a property at a time. A device that
    /// is offline or not logged in gets it with the answer to its login.
    mutating func deliver(_ path: String, to device: DeviceID, attempt: Int, at time: HubTime) {
        guard let session = sessions[.device(device)], session.hasLoggedIn, !forwards.isDelivering(device, path),
            forwards.count < limits.pendingForwards, let reading = try? state.models[device]?.read(path)
        else { return }
        let patience = TimeAmount.seconds(10)
        // The attempt is part of the id, because a device would answer a repeat from memory. The device is part of it,
        // because two devices may have the same version.
        let id = "write.\(reading.version).\(attempt).\(device.rawValue.prefix(16))"
        forwards.add(
            Forward(
                id: id, target: session.address, requester: nil, deadline: time.monotonic + patience,
                purpose: .delivery(device, path: path, version: reading.version, attempt: attempt)))
        send(
            .request(
                LinkRequest(
                    id: id, method: ModelMethod.deliver.name,
                    params: PropertyDelivery(
                        path: path, delivery: Delivery(value: reading.value, version: reading.version)
                    ).json, t: time.wall, deadline: time.wall + patience.nanoseconds / 1_000_000)),
            to: session.address)
    }

    /// Handles a delivery that was taken, or not taken in time.
    mutating func concludeDelivery(_ forward: Forward, isTaken: Bool, at time: HubTime) {
        guard case .delivery(let device, let path, let version, let attempt) = forward.purpose,
            let newest = try? state.models[device]?.read(path).version
        else { return }
        if newest > version {
            deliver(path, to: device, attempt: 1, at: time)
        } else if !isTaken, attempt < 3 {
            deliver(path, to: device, attempt: attempt + 1, at: time)
        }
    }
}
