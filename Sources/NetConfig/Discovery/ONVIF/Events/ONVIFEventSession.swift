import IoTCore

/// Gets the events of one camera, request after request, by a pull point (ONVIF Core §9.2). It has no end.
struct ONVIFEventSession {
    private enum Step: Hashable {
        case clock, services, capabilities, subscription, pull, renewal
    }

    /// After this many seconds the subscription is prolonged; it is for 60 s.
    private static let renewalInterval: Int64 = 25
    /// The most reference parameters of a subscription.
    private static let mostParameters = 8

    private var conversation: ONVIFConversation
    private var step = Step.clock
    private var service: ServiceURL?
    private var subscription: (url: ServiceURL, parameters: String)?
    private var renewed: Int64 = 0

    init(_ device: ServiceURL, _ login: ONVIFLogin?, random: any RandomNumberGenerator) {
        conversation = ONVIFConversation(device, login, random: random)
    }

    func start() -> ONVIFSession.Request { conversation.start() }

    /// - Parameter now: Seconds since 1970.
    /// - Returns: The next request, what the camera has noticed, and whether this is the answer to a pull.
    /// - Throws: The reason why the conversation cannot continue.
    mutating func receive(
        _ answer: ONVIFSession.Answer, at now: Int64
    ) throws(IoTError) -> (next: ONVIFSession.Request, notifications: [ONVIFNotification], isPull: Bool) {
        if conversation.repeats(after: answer) { return (request(now), [], false) }
        let content: XMLElement?
        do throws(IoTError) {
            content = try conversation.content(answer)
        } catch {
            guard canDoWithout(error) else { throw error }
            content = nil
        }
        let isPull = step == .pull
        let notifications = try take(content, now)
        return (request(now), notifications, isPull)
    }

    /// Ends the subscription, so that the camera does not keep its messages; `nil` without one.
    mutating func end(at now: Int64) -> ONVIFSession.Request? {
        guard let subscription else { return nil }
        return conversation.request(
            to: subscription.url, ONVIFQuestion.end,
            headers: ONVIFQuestion.address(
                subscription.url, action: ONVIFQuestion.endAction, parameters: subscription.parameters), at: now)
    }

    private func canDoWithout(_ error: IoTError) -> Bool {
        switch step {
        case .clock: true
        case .services: error.code == .sourceUnsupported
        // Cameras that prolong it with each pull refuse this.
        case .renewal: error.code == .sourceUnsupported
        case .capabilities, .subscription, .pull: false
        }
    }

    private mutating func take(_ content: XMLElement?, _ now: Int64) throws(IoTError) -> [ONVIFNotification] {
        switch step {
        case .clock:
            conversation.takeClock(content, at: now)
            step = .services
        case .services:
            let found = content?.children("Service").prefix(64).first {
                $0.child("Namespace")?.text == ONVIFQuestion.events
            }
            service = (found?.child("XAddr")?.text).flatMap { ServiceURL($0) }.map(conversation.atService)
            step = service == nil ? .capabilities : .subscription
        case .capabilities:
            let address = content?.descendant("Capabilities", "Events", "XAddr")?.text
            guard let url = address.flatMap({ ServiceURL($0) }) else {
                throw IoTError(.sourceUnsupported, "the camera has no ONVIF events")
            }
            service = conversation.atService(url)
            step = .subscription
        case .subscription:
            let reference = content?.child("SubscriptionReference")
            guard let url = (reference?.child("Address")?.text).flatMap({ ServiceURL($0) }) else {
                throw IoTError(.sourceUnsupported, "the camera gives no address for its ONVIF events")
            }
            let parameters = (reference?.child("ReferenceParameters")?.children ?? []).prefix(Self.mostParameters)
            subscription = (
                conversation.atService(url), parameters.compactMap { ONVIFQuestion.parameter($0) }.joined()
            )
            renewed = now
            step = .pull
        case .pull:
            if now - renewed >= Self.renewalInterval { step = .renewal }
            return content.map(ONVIFNotification.read) ?? []
        case .renewal:
            renewed = now
            step = .pull
        }
        return []
    }

    private mutating func request(_ now: Int64) -> ONVIFSession.Request {
        let device = conversation.device
        func subscribed(_ question: String, _ action: String) -> (ServiceURL, String, String) {
            let (url, parameters) = subscription ?? (device, "")
            return (url, question, ONVIFQuestion.address(url, action: action, parameters: parameters))
        }
        let (url, question, headers): (ServiceURL, String, String) =
            switch step {
            case .clock: (device, ONVIFQuestion.clock, "")
            case .services: (device, ONVIFQuestion.services, "")
            case .capabilities: (device, ONVIFQuestion.eventCapabilities, "")
            case .subscription:
                (
                    service ?? device, ONVIFQuestion.subscription,
                    ONVIFQuestion.address(service ?? device, action: ONVIFQuestion.subscriptionAction)
                )
            case .pull: subscribed(ONVIFQuestion.pull, ONVIFQuestion.pullAction)
            case .renewal: subscribed(ONVIFQuestion.renewal, ONVIFQuestion.renewalAction)
            }
        return conversation.request(to: url, question, headers: headers, at: now)
    }
}
