"""Contracts: expectations, rules, allowances, findings."""
