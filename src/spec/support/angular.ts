// Angular's TestBed without a document: injectors, signals, effects and HttpClient are real; there are no components.
import '@angular/compiler';
import {
  createPlatformFactory,
  ErrorHandler,
  NgModule,
  platformCore,
  provideZonelessChangeDetection,
  ɵINJECTOR_SCOPE,
} from '@angular/core';
import { TestBed, TestComponentRenderer } from '@angular/core/testing';

class Environment {}
NgModule({
  providers: [
    provideZonelessChangeDetection(),
    ErrorHandler,
    TestComponentRenderer,
    { provide: ɵINJECTOR_SCOPE, useValue: 'root' },
  ],
})(Environment);

TestBed.initTestEnvironment(Environment, createPlatformFactory(platformCore, 'test', [])());

export { TestBed };
