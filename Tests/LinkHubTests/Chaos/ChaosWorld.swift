import IoTCore
import NIOCore
import TestSupport
import ThingModel

@testable import IoTLink
@testable import LinkHub

/// Two users and two devices on separate boxes, a broker and a hub, in virtual time. Everything follows from the seed.
struct ChaosWorld {
    enum Fault: CaseIterable {
        case broker, hub, box, cable
    }

    private enum Event {
        case atBroker(wire: Int, Up)
        case atBox(wire: Int, LinkSessionMachine.Transport)
        case boxTimer(box: Int, life: Int)
        case write(box: Int, life: Int, writer: Int)
        case pump(box: Int, life: Int)
        case keepAlive(wire: Int, cut: Int)
        case hubDrain, hubTimer
        case hubConnects(epoch: Int)
        case strike(Fault, pause: TimeAmount)
        case startHub, startBroker
        case startBox(Int)
        case cableIn(Int)
    }

    private enum Up {
        case connect
        case subscribe
        case publish([UInt8])
        case disconnect
        /// The process died, and its kernel closed the connection.
        case broken
    }

    /// One client's connection.
    private struct Wire {
        let box: Int
        let life: Int
        let attempt: Int
        let address: LinkAddress
        var isOpen = true
        var isSubscribed = false
        /// Messages held back by the box's cable, in order.
        var heldUp: [Up] = []
        var heldDown: [LinkSessionMachine.Transport] = []
        var upFree = NIODeadline.uptimeNanoseconds(0)
        var downFree = NIODeadline.uptimeNanoseconds(0)
    }

    let timing: ChaosTiming
    private var generator: SeededGenerator
    private var queue = EventQueue<Event>()
    private(set) var now = NIODeadline.uptimeNanoseconds(1_000_000_000)
    private var wall: Int64 { 1_700_000_000_000 + Int64(now.uptimeNanoseconds / 1_000_000) }
    private var time: HubTime { HubTime(monotonic: now, wall: wall) }

    private(set) var hub: VirtualHub
    private var isHubDraining = false
    /// When set, the hub dies as soon as it has something to decide, and so something to lose. It then stays down for
    /// this long.
    private var hubDoom: TimeAmount?
    /// Counts the broker's starts and ends; odd while none runs.
    private var brokerEpoch = 0
    private var isBrokerUp: Bool { brokerEpoch % 2 == 0 }
    private var isHubConnected = false
    private(set) var boxes: [VirtualBox] = []
    private var wires: [Int: Wire] = [:]
    private var nextWire = 0
    private var cuts = 0
    private(set) var devices: [DeviceID] = []
    private(set) var faults = 0
    private(set) var openFaults = 0
    private var isQuiet = false

    init(seed: UInt64, timing: ChaosTiming, answersEarly: Bool = false) throws {
        self.timing = timing
        generator = SeededGenerator(seed: seed)
        hub = try VirtualHub(limits: timing.hub, answersEarly: answersEarly)
        try hub.start(at: time)
        try populate()
        isHubConnected = true
        for box in boxes.indices { try startBox(box) }
        queue.add(.hubTimer, at: now)
    }

    private mutating func populate() throws {
        let time = time
        let users = ["ann", "bob"].compactMap { AccessID(rawValue: $0) }
        devices = try hub.perform { core throws(IoTError) in
            for user in users { try core.addUser(user, at: time) }
            var devices: [DeviceID] = []
            for name in ["front", "yard"] {
                let device = try core.addDevice(named: name)
                devices.append(device)
                for user in users { try core.bind(user, device, .guest, .all, at: time) }
            }
            return devices
        }
        // One writer of each user for each kind of property at each device.
        for (place, user) in users.enumerated() {
            var writers: [VirtualWriter] = []
            for (index, device) in devices.enumerated() {
                let number = 10 * place + 2 * index + 1
                writers.append(
                    VirtualWriter(
                        number: number, device: device.rawValue,
                        path: "ProWritable.\(VirtualDevice.settings[place]).setVal"))
                writers.append(
                    VirtualWriter(number: number + 1, device: device.rawValue, path: "ProUser.u\(place).val"))
            }
            boxes.append(VirtualBox(principal: .user(user), writers: writers))
        }
        boxes += devices.map { VirtualBox(principal: .device($0)) }
    }

    // MARK: Time

    /// Runs until `end`.
    mutating func run(until end: NIODeadline) throws {
        while let next = queue.nextTime, next <= end, let event = queue.take() {
            now = max(now, next)
            try handle(event)
        }
        now = end
    }

    private mutating func add(_ event: Event, in delay: TimeAmount = .zero) {
        queue.add(event, at: now + delay)
    }

    private mutating func handle(_ event: Event) throws {
        switch event {
        case .atBroker(let wire, let up): try arriveAtBroker(wire, up)
        case .atBox(let wire, let event): try arriveAtBox(wire, event)
        case .boxTimer(let box, let life):
            guard boxes[box].life == life, let machine = boxes[box].machine else { return }
            if let deadline = machine.nextDeadline, deadline <= now { try feed(box, .timeout) }
            armBox(box)
        case .write(let box, let life, let writer): if boxes[box].life == life { try write(box, writer) }
        case .pump(let box, let life): if boxes[box].life == life { try pump(box) }
        case .keepAlive(let wire, let cut): if cut == cuts(of: wire) { try breakAtBroker(wire) }
        case .hubDrain:
            isHubDraining = false
            if let pause = hubDoom { try killHub(pause) } else { deliver(try hub.drain(at: time)) }
        case .hubTimer:
            deliver(try hub.timeout(at: time))
            add(.hubTimer, in: timing.sweep)
        case .hubConnects(let epoch): isHubConnected = isHubConnected || (epoch == brokerEpoch && hub.core != nil)
        case .strike(let fault, let pause): try strike(fault, pause)
        case .startHub:
            openFaults -= 1
            // The hub kills the broker that it finds, and starts its own.
            killBroker()
            try hub.start(at: time)
            startBroker()
        case .startBroker:
            openFaults -= 1
            startBroker()
        case .startBox(let box):
            openFaults -= 1
            try startBox(box)
        case .cableIn(let box):
            openFaults -= 1
            cableIn(box)
        }
    }

    // MARK: Faults

    /// Starts one to three faults, which may overlap. They have ended when `openFaults` is 0.
    mutating func strikeRound() {
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
            let fault = Fault.allCases.randomElement(using: &generator) ?? .hub
            openFaults += 1
            add(
                .strike(fault, pause: timing.draw(0...60_000, &generator)),
                in: timing.draw(0...20_000, &generator))
        }
    }

    private mutating func strike(_ fault: Fault, _ pause: TimeAmount) throws {
        faults += 1
        switch fault {
        case .broker where isBrokerUp && hub.core != nil:
            killBroker()
            add(.startBroker, in: pause)
        case .hub where hub.core != nil && isBrokerUp && hubDoom == nil: hubDoom = pause
        case .box, .cable:
            let box = Int.random(in: 0..<boxes.count, using: &generator)
            if case .box = fault, boxes[box].machine != nil {
                boxes[box].kill()
                for id in wires.keys.sorted() where wires[id]?.box == box { send(up: .broken, on: id) }
                add(.startBox(box), in: pause)
            } else if case .cable = fault, boxes[box].isCableIn {
                cableOut(box)
                add(.cableIn(box), in: pause)
            } else {
                openFaults -= 1
            }
        // It is down already.
        case .broker, .hub: openFaults -= 1
        }
    }

    private mutating func killHub(_ pause: TimeAmount) throws {
        hubDoom = nil
        let end = VirtualHub.End.allCases.randomElement(using: &generator) ?? .unsent
        deliver(try hub.kill(end, at: time))
        isHubConnected = false
        add(.startHub, in: pause)
    }

    private mutating func killBroker() {
        guard isBrokerUp else { return }
        brokerEpoch += 1
        isHubConnected = false
        hub.noteOutage(at: time)
        for id in wires.keys.sorted() { close(id, .lost(IoTError(.linkUnavailable, "the broker died"))) }
    }

    private mutating func startBroker() {
        guard !isBrokerUp else { return }
        brokerEpoch += 1
        // Clients reach a port before the hub receives their messages.
        add(.hubConnects(epoch: brokerEpoch), in: timing.draw(5...500, &generator))
    }

    private mutating func startBox(_ box: Int) throws {
        let (seed, wall) = (generator.next(), wall)
        try boxes[box].start(timing, seed: seed, wall: wall)
        try feed(box, .register)
        for writer in boxes[box].writers.indices {
            add(.write(box: box, life: boxes[box].life, writer: writer), in: timing.draw(0...1_000, &generator))
        }
    }

    private mutating func cableOut(_ box: Int) {
        boxes[box].isCableIn = false
        cuts += 1
        for id in wires.keys.sorted() where wires[id]?.box == box && wires[id]?.isOpen == true {
            lastCut[id] = cuts
            add(.keepAlive(wire: id, cut: cuts), in: timing.keepAlive)
        }
    }

    private var lastCut: [Int: Int] = [:]
    private func cuts(of wire: Int) -> Int? { lastCut[wire] }

    private mutating func cableIn(_ box: Int) {
        boxes[box].isCableIn = true
        for id in wires.keys.sorted() where wires[id]?.box == box {
            lastCut[id] = nil
            guard let wire = wires[id] else { continue }
            wires[id]?.heldUp = []
            wires[id]?.heldDown = []
            for up in wire.heldUp { send(up: up, on: id) }
            for event in wire.heldDown { send(down: event, on: id) }
        }
    }

    // MARK: Wires

    private mutating func send(up: Up, on id: Int) {
        guard let wire = wires[id] else { return }
        guard boxes[wire.box].isCableIn else { return wires[id]!.heldUp.append(up) }
        let arrival = max(now + timing.draw(1...20, &generator), wire.upFree)
        wires[id]?.upFree = arrival
        queue.add(.atBroker(wire: id, up), at: arrival)
    }

    private mutating func send(down event: LinkSessionMachine.Transport, on id: Int) {
        guard let wire = wires[id] else { return }
        guard boxes[wire.box].isCableIn else { return wires[id]!.heldDown.append(event) }
        let arrival = max(now + timing.draw(1...20, &generator), wire.downFree)
        wires[id]?.downFree = arrival
        queue.add(.atBox(wire: id, event), at: arrival)
    }

    /// Closes a connection at the broker; the client gets `event`.
    private mutating func close(_ id: Int, _ event: LinkSessionMachine.Transport) {
        guard wires[id]?.isOpen == true else { return }
        wires[id]?.isOpen = false
        wires[id]?.isSubscribed = false
        send(down: event, on: id)
    }

    /// The broker closes a client's connection and publishes its will.
    private mutating func breakAtBroker(_ id: Int) throws {
        guard let wire = wires[id], wire.isOpen else { return }
        close(id, .lost(IoTError(.linkUnavailable, "the broker closed the connection")))
        let will = LinkPush(
            method: SessionMethod.end.name,
            params: ["reason": "connectionLost", "connection": .integer(Int64(wire.attempt))])
        arriveAtHub(UplinkMessage(address: wire.address, payload: try Envelope.push(will).serialized()))
    }

    private mutating func arriveAtBroker(_ id: Int, _ up: Up) throws {
        guard let wire = wires[id] else { return }
        guard isBrokerUp, wire.isOpen else {
            if case .connect = up { close(id, .lost(IoTError(.linkUnavailable, "no broker"))) }
            return
        }
        switch up {
        case .connect: send(down: .connected, on: id)
        case .subscribe:
            wires[id]?.isSubscribed = true
            send(down: .subscribed(granted: true), on: id)
        case .publish(let payload): arriveAtHub(UplinkMessage(address: wire.address, payload: payload))
        case .disconnect: close(id, .closed)
        case .broken: try breakAtBroker(id)
        }
    }

    private mutating func arriveAtBox(_ id: Int, _ event: LinkSessionMachine.Transport) throws {
        guard let wire = wires[id] else { return }
        switch event {
        case .lost, .closed: wires[id] = nil
        default: break
        }
        if boxes[wire.box].life == wire.life, boxes[wire.box].machine != nil {
            try feed(wire.box, .transport(attempt: wire.attempt, event))
        }
    }

    // MARK: The hub

    /// A broker without its hub drops messages.
    private mutating func arriveAtHub(_ message: UplinkMessage) {
        guard isHubConnected else { return }
        hub.receive(message)
        guard !isHubDraining else { return }
        isHubDraining = true
        add(.hubDrain, in: timing.draw(0...5, &generator))
    }

    private mutating func deliver(_ outputs: [HubOutput]) {
        // A dead hub sent these before it died.
        guard isHubConnected else { return }
        // Receiver by receiver, because the hub's order of receivers does not follow from the seed.
        let receivers = wires.filter { $0.value.isSubscribed }.sorted { $0.key < $1.key }
        for (id, wire) in receivers {
            for case .message(wire.address, let payload) in outputs {
                for envelope in EnvelopeBatch.parse(payload).envelopes { send(down: .received(envelope), on: id) }
            }
        }
    }

    // MARK: Boxes

    private mutating func armBox(_ box: Int) {
        let life = boxes[box].life
        let now = now
        if let timer = boxes[box].newTimer(at: now) { queue.add(.boxTimer(box: box, life: life), at: timer) }
    }

    private mutating func feed(_ box: Int, _ input: LinkSessionMachine.Input) throws {
        let (now, wall) = (now, wall)
        guard let outputs = boxes[box].machine?.handle(input, at: now, wall: wall) else { return }
        for output in outputs { try perform(output, box) }
        armBox(box)
    }

    private mutating func perform(_ output: LinkSessionMachine.Output, _ box: Int) throws {
        let life = boxes[box].life
        func current() -> Int? {
            wires.filter { $0.value.box == box && $0.value.life == life }.map(\.key).max()
        }
        switch output {
        case .connect(let attempt, let address):
            nextWire += 1
            wires[nextWire] = Wire(box: box, life: life, attempt: attempt, address: address)
            send(up: .connect, on: nextWire)
        case .subscribe: if let wire = current() { send(up: .subscribe, on: wire) }
        case .publish(_, let payload, _): if let wire = current() { send(up: .publish(payload), on: wire) }
        case .disconnect: if let wire = current() { send(up: .disconnect, on: wire) }
        case .status(let change): try changed(change, box)
        case .push(let push): note(push, box)
        case .complete(let id, let outcome): try completed(id, outcome, box)
        case .execute(let key, let request, _):
            guard let outcome = boxes[box].device?.handle(request) else { return }
            try feed(box, .handled(key, outcome))
            try pump(box)
        case .handover, .answer, .renewed, .finished, .ownership, .grantTrust, .rightsWithdrawn, .finish: break
        }
    }

    private mutating func changed(_ change: LinkStatusChange, _ box: Int) throws {
        let isOnline = change.status == .online
        if boxes[box].device != nil {
            boxes[box].device?.setOnline(isOnline)
            try pump(box)
        } else if isOnline {
            // Earlier pushes may be lost.
            try ask(box, "list\(now.uptimeNanoseconds)", ModelMethod.listDevices.name, [:])
        }
    }

    private mutating func note(_ push: LinkPush, _ box: Int) {
        guard push.method == ModelMethod.presence.name, let device = push.params["device"]?.stringValue else { return }
        boxes[box].view[device] = push.params["online"]?.boolValue
    }

    private mutating func ask(_ box: Int, _ id: String, _ method: String, _ params: JSONValue) throws {
        try feed(
            box,
            .request(
                PendingRequests.Entry(
                    id: id, method: method, params: params, deadline: now + timing.patience, takesMany: false)))
    }

    private mutating func completed(_ id: String, _ outcome: Result<JSONValue, IoTError>, _ box: Int) throws {
        let life = boxes[box].life
        if boxes[box].device != nil {
            if boxes[box].device?.answered(id, outcome) == true { return try pump(box) }
            return add(.pump(box: box, life: life), in: timing.scaled(.milliseconds(500)))
        }
        if id.hasPrefix("list") {
            for device in (try? outcome.get())?["devices"]?.arrayValue ?? [] {
                guard let id = device["id"]?.stringValue else { continue }
                boxes[box].view[id] = device["online"]?.boolValue
            }
            return
        }
        for writer in boxes[box].writers.indices where boxes[box].writers[writer].current?.request.id == id {
            let isImpatient = Int.random(in: 0..<8, using: &generator) == 0
            boxes[box].writers[writer].complete(id, outcome, isImpatient: isImpatient)
            add(.write(box: box, life: life, writer: writer), in: timing.draw(100...120_000, &generator))
        }
    }

    private mutating func write(_ box: Int, _ writer: Int) throws {
        guard boxes[box].machine != nil, boxes[box].writers[writer].problems.isEmpty else { return }
        let request = boxes[box].writers[writer].request(&generator)
        try ask(box, request.id, request.method, request.params)
    }

    private mutating func pump(_ box: Int) throws {
        guard boxes[box].machine != nil, let request = boxes[box].device?.nextRequest() else { return }
        try ask(box, request.id, request.method, request.params)
    }

    // MARK: Checks

    /// What is wrong although the last fault ended long ago; empty if nothing is.
    func troubles() throws -> [String] {
        guard let core = hub.core else { return ["there is no hub"] }
        var troubles: [String] = []
        for box in boxes where !box.isOnline {
            troubles.append("\(box.principal) is \(box.machine.map { "\($0.status)" } ?? "dead")")
        }
        for device in devices {
            if core.sessions[.device(device)] == nil { troubles.append("the hub shows \(device) as offline") }
            let stored = try core.state.models[device]?.read("ProReadonly._online.stVal").value
            if stored != 1 { troubles.append("the model of \(device) has _online \(stored?.jsonText ?? "nothing")") }
            for user in boxes where user.principal.kind == .user && user.view[device.rawValue] != true {
                troubles.append("\(user.principal) sees \(device) as \(user.view[device.rawValue] as Any)")
            }
        }
        return troubles
    }

    /// Settings that the hub has but a device has not applied. A write may still be on its way, so a setting is late
    /// only if it is in two successive results.
    func lateSettings() throws -> Set<String> {
        var late: Set<String> = []
        for (device, box) in zip(devices, boxes.suffix(devices.count)) {
            for name in VirtualDevice.settings {
                let wanted = try hub.core?.state.models[device]?.read("ProWritable.\(name).setVal").value
                if box.device?.setting(name) != wanted { late.insert("\(box.principal) carries out an old \(name)") }
            }
        }
        return late
    }

    /// Errors that no fault excuses.
    mutating func problems() throws -> [String] {
        var problems = boxes.flatMap { $0.writers.flatMap(\.problems) }
        for box in boxes.indices {
            boxes[box].noteActions()
            if boxes[box].mostRepeated > 1 { problems.append("\(boxes[box].principal) carried an action out twice") }
        }
        let carriedOut = boxes.reduce(into: Set<Int64>()) { $0.formUnion($1.carriedOut) }
        for writer in boxes.flatMap(\.writers) {
            let never = writer.actions.subtracting(carriedOut)
            if !never.isEmpty { problems.append("actions were answered and never carried out: \(never.sorted())") }
            // Also values that were not read since.
            guard let core = hub.core, let device = DeviceID(rawValue: writer.device) else { continue }
            let reading = try? core.state.models[device]?.read(writer.path)
            if let wrong = writer.shadow.judge(reading?.value.integerValue, version: reading?.version) {
                problems.append("\(writer.device) \(writer.path): \(wrong)")
            }
        }
        return problems
    }
}
