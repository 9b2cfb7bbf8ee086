import IoTCore
import Logging
import NIOCore
import Synchronization

// Feeds inputs to the machine and performs its outputs.
extension LinkSession {
    func feed(_ input: LinkSessionMachine.Input) {
        feed([input])
    }

    /// Runs the machine and performs its outputs under the lock, to keep their order. No output blocks. Streams are
    /// finished and log lines are written after the lock is released.
    ///
    /// - Parameter isWanted: called under the lock; if it returns `false`, the inputs are dropped.
    func feed(
        _ inputs: [LinkSessionMachine.Input], if isWanted: (LinkSessionState) -> Bool = { _ in true }
    ) {
        let (later, isTimerLate) = state.withLock { state -> ([@Sendable () -> Void], Bool) in
            guard isWanted(state) else { return ([], false) }
            var later: [@Sendable () -> Void] = []
            var inputs = inputs[...]
            while let input = inputs.popFirst() {
                let outputs = state.machine.handle(input, at: .now(), wall: WallClock.milliseconds())
                for output in outputs {
                    if let answer = perform(output, &state, &later) { inputs.append(answer) }
                }
            }
            return (later, state.isTimerLate)
        }
        for action in later { action() }
        if isTimerLate { timer.raise() }
    }

    /// Performs an output. Returns an input for the machine, if one results.
    private func perform(
        _ output: LinkSessionMachine.Output, _ state: inout LinkSessionState, _ later: inout [@Sendable () -> Void]
    ) -> LinkSessionMachine.Input? {
        switch output {
        case .connect(let attempt, let address):
            let clientID = state.machine.clientID
            state.work.yield(.connect(attempt: attempt, address, clientID: clientID, isNext: false))
        case .disconnect:
            state.connection?.disconnect()
            state.connection = nil
        case .subscribe(let filter):
            return hand(&state) { connection throws(IoTError) in try connection.subscribe(filter) }
        case .publish(let topic, let payload, let isJoinable):
            return hand(&state) { connection throws(IoTError) in
                try connection.publish(MQTTMessage(topic: topic, payload: payload), isJoinable: isJoinable)
            }
        case .status(let change):
            for reader in state.statusReaders.values { reader.yield(change) }
            later.append { self.log(change) }
        case .answer(let id, let result): return deliver(result, id, &state, &later)
        case .complete(let id, let outcome): complete(id, outcome, &state, &later)
        case .execute(let key, let request, let deadline):
            guard case .dropped = state.work.yield(.execute(key, request, deadline: deadline)) else { return nil }
            return .handled(key, .failure(IoTError(.tooManyRequests)))
        case .finish(let key): if let running = state.running[key] { later.append { running.settle(.success(())) } }
        case .push(let push):
            for reader in state.pushReaders.values {
                if case .dropped = reader.yield(push) { state.droppedPushes += 1 }
            }
        case .ownership(let number): onOwnership?(number)
        case .grantTrust(let trust): onGrantTrust?(trust)
        case .rightsWithdrawn(let notice): onRightsWithdrawn?(notice)
        case .handover(let output): return perform(output, &state)
        case .renewed(let token):
            if case .value = state.token { state.token = .value(token) }
            state.work.yield(.keep(token, state.token))
            later.append { self.logger.info("link token renewed", metadata: ["link.principal": "\(self.principal)"]) }
        case .finished: later += state.finish()
        }
        return nil
    }

    private func perform(
        _ output: LinkSessionMachine.HandoverOutput, _ state: inout LinkSessionState
    ) -> LinkSessionMachine.Input? {
        do throws(IoTError) {
            switch output {
            case .connect(let attempt, let address, let clientID):
                state.nextAttempt = attempt
                state.work.yield(.connect(attempt: attempt, address, clientID: clientID, isNext: true))
            case .subscribe(let filter): try state.next?.subscribe(filter)
            case .publish(let topic, let payload):
                try state.next?.publish(MQTTMessage(topic: topic, payload: payload))
            case .adopt:
                state.connection?.disconnect()
                state.connection = state.next
                state.attempt = state.nextAttempt
                state.next = nil
            case .abandon:
                state.next?.disconnect()
                state.next = nil
                state.nextAttempt = 0
            }
            return nil
        } catch {
            return .transport(attempt: state.nextAttempt, .lost(error))
        }
    }

    /// Treats a connection that accepts no more messages as lost. The next connection resends what it did not send.
    private func hand(
        _ state: inout LinkSessionState, _ body: (MQTTConnection) throws(IoTError) -> Void
    ) -> LinkSessionMachine.Input? {
        guard let connection = state.connection else { return nil }
        do throws(IoTError) {
            try body(connection)
            return nil
        } catch {
            connection.disconnect()
            state.connection = nil
            return .transport(attempt: state.attempt, .lost(error))
        }
    }

    private func deliver(
        _ result: JSONValue, _ id: String, _ state: inout LinkSessionState, _ later: inout [@Sendable () -> Void]
    ) -> LinkSessionMachine.Input? {
        guard case .many(let stream) = state.waiters[id]?.waiter else { return nil }
        guard case .dropped = stream.yield(result) else { return nil }
        state.waiters[id] = nil
        later.append { stream.finish(throwing: IoTError(.slowReader, "the answers were read too slowly")) }
        return .cancel(id: id)
    }

    private func complete(
        _ id: String, _ outcome: Result<JSONValue, IoTError>, _ state: inout LinkSessionState,
        _ later: inout [@Sendable () -> Void]
    ) {
        switch state.waiters.removeValue(forKey: id)?.waiter {
        case .one(let continuation): continuation.resume(returning: outcome)
        case .many(let stream):
            later.append {
                switch outcome {
                case .success(let result):
                    if result != .null { stream.yield(result) }
                    stream.finish()
                case .failure(let error): stream.finish(throwing: error)
                }
            }
        case nil: break
        }
    }

    /// Reads the token and starts the connection, on a task of `run()`.
    func connect(_ attempt: Int, _ address: LinkAddress, clientID: String, isNext: Bool) {
        let token = state.withLock { $0.token }
        let credentials: MQTTCredentials
        do throws(IoTError) {
            let text = try token.read()
            let claims = try TokenClaims(parsing: text)
            credentials = MQTTCredentials(userName: claims.id, password: text)
            feed(.tokenRead(attempt: attempt, claims))
        } catch {
            return feed(.transport(attempt: attempt, .tokenUnreadable(error)))
        }
        let will = SessionMethod.end.push(SessionEnding(.connectionLost, connection: Int64(attempt)))
        var configuration = MQTTConfiguration(
            endpoint: endpoint, clientID: clientID, credentials: credentials,
            will: MQTTMessage(topic: address.upTopic, payload: will.json.jsonBytes))
        configuration.keepAlive = limits.heartbeatInterval
        let connection = MQTTConnection(configuration: configuration) { [weak self] event in
            self?.received(event, attempt: attempt, topic: address.downTopic)
        }
        let isWanted = state.withLock { state in
            guard !state.isOver else { return false }
            if isNext {
                guard state.nextAttempt == attempt else { return false }
                state.next?.disconnect()
                state.next = connection
            } else {
                state.connection?.disconnect()
                state.connection = connection
                state.attempt = attempt
            }
            return true
        }
        if isWanted { connection.connect() }
    }

    /// Stores a renewed token before it is used, so that it survives a restart. On a task of `run()`.
    func keep(_ token: String, in place: LinkToken) {
        if case .file(let path) = place {
            do throws(IoTError) {
                try LinkToken.write(token, toFile: path)
            } catch {
                state.withLock { state in
                    guard case .file(path) = state.token else { return }
                    state.token = .value(token)
                }
                logger.error(
                    "the renewed link token could not be saved and will be lost when this program exits",
                    metadata: ["link.principal": "\(principal)", "link.error": "\(error)"])
            }
        }
        onTokenRenewed?(token)
    }

    /// Called on the connection's thread.
    private func received(_ event: MQTTEvent, attempt: Int, topic: String) {
        let transport: LinkSessionMachine.Transport
        switch event {
        case .connected: transport = .connected
        case .subscribed(_, let granted): transport = .subscribed(granted: granted)
        case .message(let message):
            let (envelopes, malformed) = message.topic == topic ? EnvelopeBatch.parse(message.payload) : ([], 1)
            // Feeds each envelope separately, so that running handlers can finish between them.
            for envelope in envelopes { feed(.transport(attempt: attempt, .received(envelope))) }
            for _ in 0..<malformed { feed(.transport(attempt: attempt, .malformed)) }
            return
        case .ended(.disconnected): transport = .closed
        case .ended(.credentialsRefused(let error)): transport = .credentialsRefused(error)
        case .ended(.lost(let error)): transport = .lost(error)
        }
        feed(.transport(attempt: attempt, transport))
    }

    func finish() {
        let endings = state.withLock { $0.finish() }
        for ending in endings { ending() }
    }

    private func log(_ change: LinkStatusChange) {
        logger.info(
            "link status changed",
            metadata: [
                "link.principal": "\(principal)", "link.status": "\(change.status.name)",
                "link.cause": "\(change.cause.rawValue)",
                "link.reason": "\(change.reason.map { String($0.code.rawValue) } ?? "none")",
            ])
    }
}
