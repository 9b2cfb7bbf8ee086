/// The text of `mosquitto.conf(5)` for the hub's own broker.
struct BrokerSettings {
    struct TLSListener {
        var host: String
        var port: Int
        var certificateFile: String
        var keyFile: String
    }

    /// The socket of the hub's own client, and of principals on this machine where `port` is `nil`.
    var socketPath: String
    /// A port of 127.0.0.1 for principals on this machine.
    var port: Int?
    var tls: TLSListener?
    var plugin: String
    var securityFile: String
    /// The account to stay in: a broker started as root drops to another one and could not read its own files.
    var account: String
    var limits: BrokerLimits

    var text: String {
        // A listener's own lines stand after it: before it, they would be those of a default listener, which would then
        // be opened too, on port 1883 of every interface.
        //
        // A client id is the user name, which is the token's id: a client that is let in can end no connection but an
        // earlier one of its own token, whatever client id it sends, and the sessions that clients without
        // `clean session` leave are no more than there are tokens. They are kept for the least time there is, an hour.
        //
        // `memory_limit` is not set. mosquitto 2.0.11 counts memory that its dynamic-security plugin frees and not all of
        // what it allocates, so that the count wraps below zero when credentials are deleted, and the broker then refuses
        // everybody, the hub first. The supervisor looks at the process instead.
        //
        // Sessions and queues are not kept over a restart: the hub's store is the only truth. Nothing is retained,
        // since presence is the hub's to decide, and $SYS topics are off, since no client needs them.
        return """
            per_listener_settings false
            user \(account)
            allow_anonymous false
            persistence false
            retain_available false
            sys_interval 0
            set_tcp_nodelay true
            max_packet_size \(limits.packetBytes)
            max_inflight_messages \(limits.inflightMessages)
            max_inflight_bytes \(limits.inflightBytes)
            max_queued_messages \(limits.queuedMessages)
            max_queued_bytes \(limits.queuedBytes)
            queue_qos0_messages false
            persistent_client_expiration 1h
            max_keepalive 300
            connection_messages false
            log_dest stderr
            log_type error
            log_type warning
            log_type notice
            plugin \(plugin)
            plugin_opt_config_file \(securityFile)
            \(tlsListener)\(port.map { listener("\($0) 127.0.0.1") } ?? "")\(listener("0 \(socketPath)"))
            """
    }

    /// Each has its own count of connections, so that whoever fills one shuts nobody out of another.
    private func listener(_ place: String) -> String {
        """
        listener \(place)
        max_connections \(limits.connections)
        use_username_as_clientid true

        """
    }

    /// It comes first, so that whoever reaches another listener knows that this one is open too. TLS 1.2 is the
    /// oldest version that is spoken. Without a host mosquitto listens on every address of both kinds; `::` would be
    /// IPv6 alone.
    private var tlsListener: String {
        guard let tls else { return "" }
        return listener("\(tls.port)\(tls.host == "::" ? "" : " " + tls.host)") + """
            certfile \(tls.certificateFile)
            keyfile \(tls.keyFile)
            tls_version tlsv1.2

            """
    }
}
